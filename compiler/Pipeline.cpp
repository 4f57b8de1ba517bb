// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline.h"

#include "compiler/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace qcc {

/// The enumerator named by an option's text; nothing if the option was not given.
template <typename Enum>
static qrt::Status parseChoice(const std::string &text, const char *option,
                               std::optional<Enum> (*symbolize)(llvm::StringRef), const char *expected,
                               std::optional<Enum> &result) {
  if (text.empty())
    return qrt::Status();
  result = symbolize(text);
  if (!result)
    return qrt::error(qrt::StatusCode::InvalidUsage, "{}: expected {}, got {}", option, expected, text);
  return qrt::Status();
}

qrt::Status parseChoices(const std::string &states, const std::string &remat, PipelineOptions &options) {
  QRT_RETURN_IF_ERROR(parseChoice(states, "--states", &qt::symbolizeStateFormat, "f32 or bf16", options.states));
  return parseChoice(remat, "--remat", &qt::symbolizeRematPolicy, "none or memory-bound", options.remat);
}

Phase phaseOf(ModuleOp module) {
  auto phase = module->getAttrOfType<qt::PhaseAttr>(qt::kPhaseAttr);
  return phase ? phase.getValue() : Phase::Model;
}

/// The value of a choice: what the module has recorded, what was asked for, or the default, in this order. Where the
/// first two differ, an error.
template <typename AttrTy, typename Enum>
static FailureOr<Enum> choose(ModuleOp module, StringRef name, StringRef option, std::optional<Enum> asked,
                              Enum otherwise) {
  auto recorded = module->getAttrOfType<AttrTy>(name);
  if (recorded && asked && recorded.getValue() != *asked)
    return module.emitError() << "the module was compiled with --" << option << "="
                              << stringifyEnum(recorded.getValue()) << ", which cannot become "
                              << stringifyEnum(*asked);
  Enum value = recorded ? recorded.getValue() : asked.value_or(otherwise);
  module->setAttr(name, AttrTy::get(module.getContext(), value));
  return value;
}

/// Adds the passes of one phase, its verifier last. Records on the module the choices that the phase takes.
static LogicalResult addPhase(OpPassManager &passes, ModuleOp module, Phase phase, const PipelineOptions &options) {
  switch (phase) {
  case Phase::Model:
    break;
  case Phase::Raised:
    // The model itself is where the pipeline begins: its contract is checked on the way in.
    passes.addPass(createVerifyModel());
    passes.addPass(createRaiseGatedDelta());
    passes.addPass(createRaiseAttention());
    passes.addPass(createVerifyRaised());
    break;
  case Phase::Formed:
    passes.addPass(createFormGatedDeltaInputs());
    passes.addPass(createFormGatedNorm());
    passes.addPass(createFormQkNormRope());
    passes.addPass(createFormAttentionGate());
    passes.addPass(createFormSwiglu());
    passes.addPass(createFormAddNorm());
    passes.addPass(createFormLinearCrossEntropy());
    passes.addPass(createFormParameterPacks());
    passes.addPass(createVerifyFormed());
    break;
  case Phase::Grad: {
    BuildEntriesOptions entries;
    FailureOr<qt::StateFormat> states =
        choose<qt::StateFormatAttr>(module, qt::kStatesAttr, "states", options.states, qt::StateFormat::F32);
    if (failed(states))
      return failure();
    entries.states = *states;
    passes.addPass(createBuildEntries(entries));
    passes.addPass(createVerifyGrad());
    break;
  }
  case Phase::Bucketed: {
    if (options.buckets.empty())
      return module.emitError() << "no bucket to compile for: --buckets or --data says which";
    SpecializeBucketsOptions buckets;
    for (const qrt::BucketShape &bucket : options.buckets)
      buckets.buckets += (buckets.buckets.empty() ? "" : ",") + qrt::printBucket(bucket);
    passes.addPass(createSpecializeBuckets(buckets));
    passes.addPass(createVerifyBucketed());
    break;
  }
  case Phase::Sharded:
    // One rank: every placement is the whole, and there is nothing to gather or reduce. Local shapes are static shapes.
    passes.addPass(createVerifyBucketed());
    break;
  case Phase::Fused:
    passes.addPass(createFuseGradientSums());
    passes.addPass(createVerifyFused());
    break;
  case Phase::Remat: {
    RematOptions remat;
    FailureOr<qt::RematPolicy> policy =
        choose<qt::RematPolicyAttr>(module, qt::kRematAttr, "remat", options.remat, qt::RematPolicy::None);
    if (failed(policy))
      return failure();
    remat.policy = *policy;
    passes.addPass(createRemat(remat));
    passes.addPass(createVerifyRemat());
    break;
  }
  case Phase::Planned: {
    LowerToStepOptions lower;
    lower.disableKernel = options.disabledKernel;
    passes.addPass(createLowerToStep(lower));
    passes.addPass(createVerifyPlanned());
    break;
  }
  case Phase::Program:
    return module.emitError() << "a program is no module: emitProgram makes it of a planned one";
  }
  return success();
}

LogicalResult compileTo(ModuleOp module, Phase until, const PipelineOptions &options) {
  Phase reached = phaseOf(module);
  if (until < reached)
    return module.emitError() << "the module is in the phase " << qt::stringifyPhase(reached) << " already, behind "
                              << qt::stringifyPhase(until);
  while (reached < until) {
    auto next = static_cast<Phase>(static_cast<uint32_t>(reached) + 1);
    PassManager passes(module.getContext(), ModuleOp::getOperationName());
    if (failed(addPhase(passes, module, next, options)) || failed(passes.run(module)))
      return failure();
    module->setAttr(qt::kPhaseAttr, qt::PhaseAttr::get(module.getContext(), next));
    reached = next;
  }
  return success();
}

} // namespace qcc
