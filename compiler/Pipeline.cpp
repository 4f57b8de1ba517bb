// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Pipeline.h"

#include "compiler/Passes.h"
#include "compiler/remat/Remat.h"
#include "dialects/step/Step.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <set>

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

qrt::Status parseChoices(const std::string &states, const std::string &remat, const std::string &target,
                         std::optional<int64_t> memory, PipelineOptions &options) {
  QRT_RETURN_IF_ERROR(parseChoice(states, "--states", &qt::symbolizeStateFormat, "f32 or bf16", options.states));
  QRT_RETURN_IF_ERROR(
      parseChoice(remat, "--remat", &qt::symbolizeRematPolicy, "none, memory-bound or budget", options.remat));
  options.memory = memory;
  return parseChoice(target, "--target", &qt::symbolizeTarget, "cpu or sm_90a", options.target);
}

static constexpr qt::Target kDefaultTarget = qt::Target::Cpu;

qt::Target targetOf(ModuleOp module, const PipelineOptions &options) {
  auto recorded = module->getAttrOfType<qt::TargetAttr>(qt::kTargetAttr);
  return recorded ? recorded.getValue() : options.target.value_or(kDefaultTarget);
}

qt::RematPolicy policyOf(ModuleOp module, const PipelineOptions &options) {
  if (auto recorded = module->getAttrOfType<qt::RematPolicyAttr>(qt::kRematAttr))
    return recorded.getValue();
  return options.remat.value_or(options.memory ? qt::RematPolicy::Budget : qt::RematPolicy::None);
}

Phase phaseOf(ModuleOp module) {
  auto phase = module->getAttrOfType<qt::PhaseAttr>(qt::kPhaseAttr);
  return phase ? phase.getValue() : Phase::Model;
}

/// An error where the module has recorded another choice than the one asked for.
template <typename AttrTy, typename Enum>
static LogicalResult checkChoice(ModuleOp module, StringRef name, StringRef option, std::optional<Enum> asked) {
  auto recorded = module->getAttrOfType<AttrTy>(name);
  if (recorded && asked && recorded.getValue() != *asked)
    return module.emitError() << "the module was compiled with --" << option << "="
                              << stringifyEnum(recorded.getValue()) << ", which cannot become "
                              << stringifyEnum(*asked);
  return success();
}

/// Records a choice that was asked for, unless the module is past the phase that takes it: a dump of any phase keeps
/// it.
template <typename AttrTy, typename Enum>
static void record(ModuleOp module, Phase reached, Phase takenIn, StringRef name, std::optional<Enum> asked) {
  if (asked && reached < takenIn)
    module->setAttr(name, AttrTy::get(module.getContext(), *asked));
}

/// Records what decides about recomputation, with its budget. An error where it needs a budget and has none.
static LogicalResult recordPolicy(ModuleOp module, Phase reached, const PipelineOptions &options) {
  if (reached >= Phase::Remat)
    return success();
  if (policyOf(module, options) != qt::RematPolicy::Budget) {
    record<qt::RematPolicyAttr>(module, reached, Phase::Remat, qt::kRematAttr, options.remat);
    return success();
  }
  if (!module->hasAttr(qt::kMemoryAttr)) {
    if (!options.memory)
      return module.emitError() << "--remat=budget: expected a budget, --memory";
    module->setAttr(qt::kMemoryAttr, IntegerAttr::get(IntegerType::get(module.getContext(), 64), *options.memory));
  }
  module->setAttr(qt::kRematAttr, qt::RematPolicyAttr::get(module.getContext(), qt::RematPolicy::Budget));
  return success();
}

/// The value of a choice, now that it is taken: what the module records, else the default, which it records then.
template <typename AttrTy, typename Enum> static Enum take(ModuleOp module, StringRef name, Enum otherwise) {
  auto recorded = module->getAttrOfType<AttrTy>(name);
  Enum value = recorded ? recorded.getValue() : otherwise;
  module->setAttr(name, AttrTy::get(module.getContext(), value));
  return value;
}

/// The check of a phase's exit contract.
static std::unique_ptr<Pass> createVerifier(Phase phase) {
  switch (phase) {
  case Phase::Model:
    return createVerifyModel();
  case Phase::Raised:
    return createVerifyRaised();
  case Phase::Formed:
    return createVerifyFormed();
  case Phase::Grad:
    return createVerifyGrad();
  case Phase::Bucketed:
  case Phase::Sharded: // One rank: local shapes are static shapes.
    return createVerifyBucketed();
  case Phase::Fused:
    return createVerifyFused();
  case Phase::Remat:
    return createVerifyRemat();
  case Phase::Planned:
    return createVerifyPlanned();
  case Phase::Program:
    break;
  }
  return nullptr;
}

/// Adds the passes that lead to a phase. Records on the module the choices that the phase takes.
static LogicalResult addPhase(OpPassManager &passes, ModuleOp module, Phase phase, const PipelineOptions &options) {
  switch (phase) {
  case Phase::Model:
    break;
  case Phase::Raised:
    passes.addPass(createRaiseGatedDelta());
    passes.addPass(createRaiseAttention());
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
    passes.addPass(createWarnLeftOver());
    break;
  case Phase::Grad: {
    BuildEntriesOptions entries;
    entries.states = take<qt::StateFormatAttr>(module, qt::kStatesAttr, qt::StateFormat::F32);
    passes.addPass(createBuildEntries(entries));
    break;
  }
  case Phase::Bucketed: {
    if (options.buckets.empty())
      return module.emitError() << "no bucket to compile for: --buckets or --data says which";
    SpecializeBucketsOptions buckets;
    for (const qrt::BucketShape &bucket : options.buckets)
      buckets.buckets += (buckets.buckets.empty() ? "" : ",") + qrt::printBucket(bucket);
    passes.addPass(createSpecializeBuckets(buckets));
    break;
  }
  case Phase::Sharded:
    // One rank: every placement is the whole, and there is nothing to gather or reduce.
    break;
  case Phase::Fused:
    passes.addPass(createFuseGradientSums());
    passes.addPass(createClusterPointwise());
    break;
  case Phase::Remat: {
    RematOptions remat;
    remat.policy = take<qt::RematPolicyAttr>(module, qt::kRematAttr, qt::RematPolicy::None);
    if (remat.policy == qt::RematPolicy::Budget) {
      remat.memory = module->getAttrOfType<IntegerAttr>(qt::kMemoryAttr).getInt(); // see recordPolicy
      // What a kernel needs, and how long it takes, is the target's.
      remat.targetKind = take<qt::TargetAttr>(module, qt::kTargetAttr, kDefaultTarget);
      remat.disableKernel = options.disabledKernel;
    }
    passes.addPass(options.machine ? createRemat(remat, *options.machine) : createRemat(remat));
    break;
  }
  case Phase::Planned: {
    LowerToStepOptions lower;
    lower.disableKernel = options.disabledKernel;
    lower.targetKind = take<qt::TargetAttr>(module, qt::kTargetAttr, kDefaultTarget);
    passes.addPass(createLowerToStep(lower));
    break;
  }
  case Phase::Program:
    return module.emitError() << "a program is no module: emitProgram makes it of a planned one";
  }
  return success();
}

/// The buckets that a module of the phase `bucketed` or later is for, printed and sorted.
static std::vector<std::string> bucketsOf(ModuleOp module) {
  std::set<std::string> buckets;
  auto add = [&](ArrayRef<int64_t> b) { buckets.insert(qrt::printBucket({b[0], b[1], b[2], b[3]})); };
  for (Operation &op : module.getOps()) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (Type type : function.getArgumentTypes())
        if (auto segments = dyn_cast<qt::SegmentsType>(type); segments && segments.isStatic())
          add({segments.getTokens(), segments.getDocuments(), segments.getLongest(), segments.getTrained()});
    } else if (auto entry = dyn_cast<step::EntryOp>(op)) {
      if (!entry.getBucket().empty())
        add(entry.getBucket());
    }
  }
  return {buckets.begin(), buckets.end()};
}

/// An option that a phase has taken already must not be given another value: it would be ignored.
static LogicalResult checkRecorded(ModuleOp module, Phase reached, const PipelineOptions &options) {
  if (failed(checkChoice<qt::StateFormatAttr>(module, qt::kStatesAttr, "states", options.states)) ||
      failed(checkChoice<qt::RematPolicyAttr>(module, qt::kRematAttr, "remat", options.remat)) ||
      failed(checkChoice<qt::TargetAttr>(module, qt::kTargetAttr, "target", options.target)))
    return failure();
  auto memory = module->getAttrOfType<IntegerAttr>(qt::kMemoryAttr);
  if (memory && options.memory && memory.getInt() != *options.memory)
    return module.emitError() << "the module was compiled with --memory=" << memory.getInt() << ", which cannot become "
                              << *options.memory;
  if (reached >= Phase::Planned && !options.disabledKernel.empty())
    return module.emitError() << "the kernels of a planned module are chosen already: --disable-kernel="
                              << options.disabledKernel << " comes too late";
  if (reached < Phase::Bucketed || options.buckets.empty())
    return success();
  std::set<std::string> asked;
  for (const qrt::BucketShape &bucket : options.buckets)
    asked.insert(qrt::printBucket(bucket));
  std::vector<std::string> recorded = bucketsOf(module);
  if (!llvm::equal(asked, recorded))
    return module.emitError() << "the module was compiled for the buckets " << llvm::join(recorded, ",")
                              << ", which cannot become " << llvm::join(asked, ",");
  return success();
}

/// Weights of another type keep their states in f32 whatever was asked for: where there are no others, nothing of what
/// was asked for comes about. Once for a choice: the module does not have it recorded yet.
static void warnOfIdleStates(ModuleOp module, Phase reached, const PipelineOptions &options) {
  if (options.states != qt::StateFormat::BF16 || reached >= Phase::Grad || module->hasAttr(qt::kStatesAttr))
    return;
  auto isBf16 = [](qt::ParameterOp parameter) {
    return cast<RankedTensorType>(parameter.getType()).getElementType().isBF16();
  };
  if (llvm::none_of(module.getOps<qt::ParameterOp>(), isBf16))
    module.emitWarning()
        << "--states=bf16 is for bf16 weights, of which the model has none: its optimizer states are f32";
}

LogicalResult compileTo(ModuleOp module, Phase until, const PipelineOptions &options) {
  Phase reached = phaseOf(module);
  if (failed(checkRecorded(module, reached, options)))
    return failure();
  if (until < reached)
    return module.emitError() << "the module is in the phase " << qt::stringifyPhase(reached) << " already, after "
                              << qt::stringifyPhase(until);
  warnOfIdleStates(module, reached, options);
  record<qt::StateFormatAttr>(module, reached, Phase::Grad, qt::kStatesAttr, options.states);
  if (failed(recordPolicy(module, reached, options)))
    return failure();
  record<qt::TargetAttr>(module, reached, Phase::Planned, qt::kTargetAttr, options.target);
  // What comes in may be anything that parses: it has to keep the contract of the phase that it says it is in.
  auto verifier = createVerifier(reached);
  if (!verifier)
    return module.emitError()
           << "expected a module of the phase planned or before, got one that says it is in the phase "
           << qt::stringifyPhase(reached);
  PassManager entry(module.getContext(), ModuleOp::getOperationName());
  entry.addPass(std::move(verifier));
  if (failed(entry.run(module)))
    return failure();
  while (reached < until) {
    auto next = static_cast<Phase>(static_cast<uint32_t>(reached) + 1);
    PassManager passes(module.getContext(), ModuleOp::getOperationName());
    if (failed(addPhase(passes, module, next, options)))
      return failure();
    passes.addPass(createVerifier(next));
    if (failed(passes.run(module)))
      return failure();
    module->setAttr(qt::kPhaseAttr, qt::PhaseAttr::get(module.getContext(), next));
    reached = next;
  }
  return success();
}

} // namespace qcc
