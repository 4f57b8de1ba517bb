// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/EmitProgram.h"

#include "compiler/emit/DeviceFunctions.h"
#include "dialects/step/Step.h"
#include "runtime/backends/cuda/DeviceCode.h"
#include "runtime/schema/Digest.h"
#include "runtime/schema/Version.h"
#include "runtime/schema/step_program_generated.h"

#include "mlir/Bytecode/BytecodeWriter.h"

using namespace mlir;
namespace fb = qrt::fb;

namespace qcc {
namespace {

// The dialects spell the enumerations of the schema again; values pass from one to the other by a cast.
#define QCC_SAME(dialect, Enum, name)                                                                                  \
  static_assert(static_cast<int>(dialect::Enum::name) == static_cast<int>(fb::Enum##_##name))
QCC_SAME(step, Space, State);
QCC_SAME(step, Space, Gradients);
QCC_SAME(step, Space, Io);
QCC_SAME(step, Space, Transient);
QCC_SAME(qt, EntryKind, Step);
QCC_SAME(qt, EntryKind, Accumulate);
QCC_SAME(qt, EntryKind, Apply);
QCC_SAME(qt, EntryKind, Eval);
QCC_SAME(qt, ArgumentRole, Ids);
QCC_SAME(qt, ArgumentRole, Labels);
QCC_SAME(qt, ArgumentRole, EmbeddingOrder);
QCC_SAME(qt, ArgumentRole, Segments);
QCC_SAME(qt, ArgumentRole, InverseTokens);
QCC_SAME(qt, ArgumentRole, Hyper);
QCC_SAME(qt, ArgumentRole, Seed);
QCC_SAME(qt, ResultRole, Loss);
QCC_SAME(qt, ResultRole, RowLoss);
QCC_SAME(qt, ResultRole, GradNorm);
QCC_SAME(qt, InitKind, Zeros);
QCC_SAME(qt, InitKind, Ones);
QCC_SAME(qt, InitKind, Normal);
QCC_SAME(qt, InitKind, LogUniform);
#undef QCC_SAME

/// Texts by index, each once.
class StringTable {
public:
  uint32_t index(StringRef text) {
    auto [it, isNew] = indices_.try_emplace(text, static_cast<uint32_t>(strings_.size()));
    if (isNew)
      strings_.push_back(text.str());
    return it->second;
  }
  std::vector<std::string> take() { return std::move(strings_); }

private:
  llvm::StringMap<uint32_t> indices_;
  std::vector<std::string> strings_;
};

class ProgramEmitter {
public:
  ProgramEmitter(ModuleOp module, const FindDeviceFunction &find) : module_(module), find_(find) {}

  int64_t compiled() const { return compiled_; }

  FailureOr<std::vector<uint8_t>> run() {
    if (failed(findLayout()) || failed(emitHeader()))
      return failure();
    emitParameters();
    if (failed(emitCounters()) || failed(emitModel()))
      return failure();
    for (auto entry : module_.getOps<step::EntryOp>())
      program_.entries.push_back(emitEntry(entry));
    if (failed(emitDeviceFunctions()))
      return failure();
    program_.strings = strings_.take();
    program_.kernels = kernels_.take();

    program_.sha256 = qrt::kNoDigest;

    flatbuffers::FlatBufferBuilder builder;
    fb::FinishProgramBuffer(builder, fb::Program::Pack(builder, &program_));
    flatbuffers::Verifier verifier(builder.GetBufferPointer(), builder.GetSize(), 64, UINT32_MAX);
    if (!fb::VerifyProgramBuffer(verifier))
      return module_.emitError() << "the program's flatbuffer does not verify";
    std::vector<uint8_t> bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
    const flatbuffers::String *digits = fb::GetProgram(bytes.data())->sha256();
    qrt::StatusOr<std::string> digest = qrt::programDigest(bytes, {digits->c_str(), digits->size()});
    if (!digest.ok())
      return module_.emitError() << digest.status().message();
    std::copy(digest->begin(), digest->end(), bytes.begin() + (digits->Data() - bytes.data()));
    return bytes;
  }

private:
  using Place = std::pair<fb::Space, int64_t>; // space, bytes

  LogicalResult findLayout() {
    for (auto layout : module_.getOps<step::LayoutOp>()) {
      program_.state_bytes = layout.getStateBytes();
      program_.gradient_bytes = layout.getGradientBytes();
      for (auto place : layout.getBody()->getOps<step::PlaceOp>())
        places_[place.getSymNameAttr()] = {static_cast<fb::Space>(place.getSpace()), place.getOffset()};
      return success();
    }
    return module_.emitError() << "expected a module in the phase planned, got one without a step.layout";
  }

  LogicalResult emitHeader() {
    auto config = module_->getAttrOfType<StringAttr>(qt::kModelConfigAttr);
    auto vocabulary = module_->getAttrOfType<IntegerAttr>(qt::kVocabularyAttr);
    if (!config || !vocabulary)
      return module_.emitError() << "expected the attributes " << qt::kModelConfigAttr << " and " << qt::kVocabularyAttr
                                 << " on the module, got none for "
                                 << (config ? qt::kVocabularyAttr : qt::kModelConfigAttr);
    program_.version_major = qrt::kProgramVersion.major;
    program_.version_minor = qrt::kProgramVersion.minor;
    program_.producer = "qcc " QCC_VERSION;
    auto target = module_->getAttrOfType<qt::TargetAttr>(qt::kTargetAttr);
    if (!target)
      return module_.emitError() << "expected the attribute " << qt::kTargetAttr << " on a planned module, got none";
    target_ = target.getValue();
    program_.target = qt::stringifyTarget(target_).str();
    // The choices that shape the programs: a further bucket is built with the same.
    if (auto memory = module_->getAttrOfType<IntegerAttr>(qt::kMemoryAttr))
      program_.options.push_back("memory=" + std::to_string(memory.getInt()));
    if (auto remat = module_->getAttrOfType<qt::RematPolicyAttr>(qt::kRematAttr))
      program_.options.push_back(("remat=" + stringifyEnum(remat.getValue())).str());
    if (auto states = module_->getAttrOfType<qt::StateFormatAttr>(qt::kStatesAttr))
      program_.options.push_back(("states=" + stringifyEnum(states.getValue())).str());
    program_.model_config = config.getValue().str();
    program_.vocabulary = vocabulary.getInt();
    if (auto prefixes = module_->getAttrOfType<ArrayAttr>(qt::kOtherTensorsAttr))
      for (auto prefix : prefixes.getAsRange<StringAttr>())
        program_.other_tensors.push_back(prefix.getValue().str());
    return success();
  }

  std::unique_ptr<fb::BufferT> buffer(StringAttr symbol, Type type, int64_t firstElement) {
    auto buffer = std::make_unique<fb::BufferT>();
    auto [space, offset] = places_.at(symbol);
    qrt::DType dtype = qt::elementDType(cast<RankedTensorType>(type).getElementType());
    buffer->space = space;
    buffer->offset = offset + firstElement * qrt::byteSize(dtype);
    buffer->dtype = static_cast<fb::DType>(dtype);
    return buffer;
  }

  void emitParameters() {
    DenseMap<StringAttr, uint32_t> indices;
    for (auto parameter : module_.getOps<qt::ParameterOp>()) {
      indices[parameter.getSymNameAttr()] = program_.parameters.size();
      auto type = cast<RankedTensorType>(parameter.getType());
      auto &out = *program_.parameters.emplace_back(std::make_unique<fb::ParameterT>());
      out.name = parameter.getSymName().str();
      out.shape.assign(type.getShape().begin(), type.getShape().end());
      for (Attribute name : parameter.getNames())
        out.checkpoint_names.push_back(cast<StringAttr>(name).getValue().str());
      if (std::optional<ArrayAttr> tied = parameter.getTied())
        for (auto name : tied->getAsRange<StringAttr>())
          out.tied_names.push_back(name.getValue().str());
      out.init = static_cast<fb::InitKind>(parameter.getInit().getKind());
      out.init_a = parameter.getInit().getA().convertToDouble();
      out.init_b = parameter.getInit().getB().convertToDouble();
      out.frozen = parameter.getFrozen();
      out.decay = type.getRank() >= 2;
    }
    // The states of each parameter or pack.
    DenseMap<StringAttr, SmallVector<qt::StateOp>> states;
    for (auto state : module_.getOps<qt::StateOp>())
      if (state.getParameter())
        states[state.getParameterAttr().getAttr()].push_back(state);
    auto fill = [&](fb::ParameterT &out, StringAttr owner, Type weightType, int64_t firstElement) {
      out.weight = buffer(owner, weightType, firstElement);
      for (qt::StateOp state : states[owner]) {
        std::unique_ptr<fb::BufferT> part = buffer(state.getSymNameAttr(), state.getType(), firstElement);
        switch (state.getKind()) {
        case qt::StateKind::Master:
          out.master = std::move(part);
          break;
        case qt::StateKind::ExpAvg:
          out.exp_avg = std::move(part);
          break;
        case qt::StateKind::ExpAvgSq:
          out.exp_avg_sq = std::move(part);
          break;
        case qt::StateKind::Gradient:
          out.gradient = std::move(part);
          break;
        case qt::StateKind::Counters:
          break;
        }
      }
    };
    for (auto pack : module_.getOps<qt::ParameterPackOp>()) {
      auto &out = *program_.packs.emplace_back(std::make_unique<fb::ParameterPackT>());
      out.name = pack.getSymName().str();
      int64_t firstElement = 0;
      for (Attribute member : pack.getMembers()) {
        uint32_t index = indices.at(cast<FlatSymbolRefAttr>(member).getAttr());
        out.members.push_back(index);
        fb::ParameterT &parameter = *program_.parameters[index];
        parameter.pack = static_cast<int32_t>(program_.packs.size()) - 1;
        fill(parameter, pack.getSymNameAttr(), pack.getType(), firstElement);
        int64_t elements = 1;
        for (int64_t dim : parameter.shape)
          elements *= dim;
        firstElement += elements;
      }
    }
    for (auto parameter : module_.getOps<qt::ParameterOp>()) {
      fb::ParameterT &out = *program_.parameters[indices.at(parameter.getSymNameAttr())];
      if (out.pack < 0)
        fill(out, parameter.getSymNameAttr(), parameter.getType(), 0);
    }
  }

  LogicalResult emitCounters() {
    for (auto state : module_.getOps<qt::StateOp>())
      if (state.getKind() == qt::StateKind::Counters) {
        program_.counters = buffer(state.getSymNameAttr(), state.getType(), 0);
        return success();
      }
    return module_.emitError() << "expected a qt.state with the counters of the optimizer, got none";
  }

  LogicalResult emitModel() {
    OwningOpRef<ModuleOp> model = module_.clone();
    for (Operation &op : llvm::make_early_inc_range(*model->getBody()))
      if (isa<step::LayoutOp, step::EntryOp>(op))
        op.erase();
    if ((*model)->hasAttr(qt::kPhaseAttr))
      (*model)->setAttr(qt::kPhaseAttr, qt::PhaseAttr::get(module_.getContext(), qt::Phase::Grad));
    // File positions are the build machine's.
    Location nowhere = UnknownLoc::get(module_.getContext());
    model->walk([&](Operation *op) {
      op->setLoc(nowhere);
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          argument.setLoc(nowhere);
    });
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    if (failed(writeBytecodeToFile(*model, stream, BytecodeWriterConfig("qcc"))))
      return module_.emitError() << "the model cannot be written as bytecode";
    program_.model.assign(bytes.begin(), bytes.end());
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Entries
  //===--------------------------------------------------------------------===//

  Place placeOf(Value buffer) {
    if (auto state = buffer.getDefiningOp<step::StateOp>())
      return places_.at(state.getSymbolAttr().getAttr());
    auto op = cast<step::BufferOpInterface>(buffer.getDefiningOp());
    return {static_cast<fb::Space>(op.getSpace()), op.getByteOffset()};
  }

  std::unique_ptr<fb::SliceT> emitSlice(Value memory) {
    step::View view = step::viewOf(memory);
    qrt::DType dtype = qt::elementDType(cast<MemRefType>(memory.getType()).getElementType());
    auto [space, offset] = placeOf(view.buffer);
    auto slice = std::make_unique<fb::SliceT>();
    slice->space = space;
    slice->offset = offset + view.offset * qrt::byteSize(dtype);
    slice->dtype = static_cast<fb::DType>(dtype);
    slice->shape.assign(view.shape.begin(), view.shape.end());
    slice->strides.assign(view.strides.begin(), view.strides.end());
    return slice;
  }

  static fb::Effect effectOf(step::Effect effect) {
    switch (effect) {
    case step::Effect::Write:
      return fb::Effect_Write;
    case step::Effect::InOut:
      return fb::Effect_InOut;
    default: // an absent argument has slice -1; its effect says nothing
      return fb::Effect_Read;
    }
  }

  template <typename Index> fb::WorkUnion emitWork(Operation *op, Index index) {
    fb::WorkUnion work;
    if (auto launch = dyn_cast<step::LaunchOp>(op)) {
      fb::LaunchT out;
      out.kernel = static_cast<uint16_t>(kernels_.index(StringRef(qrt::kernelInfo(launch.getKernel()).name)));
      for (auto [i, value] : llvm::enumerate(launch.getCallArguments()))
        out.args.emplace_back(value ? index(value) : -1, effectOf(launch.getEffect(i)));
      out.params.assign(launch.getParams().begin(), launch.getParams().end());
      if (Value workspace = launch.getWorkspace())
        out.workspace = index(workspace);
      if (const qrt::Expression *expression = launch.getExpressionOrNull()) {
        out.expression = std::make_unique<fb::ExpressionT>();
        for (const qrt::ExpressionStep &step : expression->steps) {
          auto &row = *out.expression->steps.emplace_back(std::make_unique<fb::ExpressionStepT>());
          row.op = static_cast<fb::ExpressionOp>(step.op);
          row.a = step.a;
          row.b = step.b;
          row.constant = step.constant;
        }
        out.expression->results = expression->results;
      }
      work.Set(std::move(out));
    } else if (auto gemm = dyn_cast<step::GemmOp>(op)) {
      fb::GemmT out;
      out.a = index(gemm.getA());
      out.b = index(gemm.getB());
      out.c = index(gemm.getC());
      out.transpose_a = gemm.getTransposeA();
      out.transpose_b = gemm.getTransposeB();
      out.accumulate = gemm.getAccumulate();
      work.Set(std::move(out));
    } else if (auto copy = dyn_cast<step::CopyOp>(op)) {
      fb::CopyT out;
      out.source = index(copy.getSource());
      out.target = index(copy.getTarget());
      work.Set(std::move(out));
    } else {
      fb::FillT out;
      out.target = index(cast<step::FillOp>(op).getTarget());
      work.Set(std::move(out));
    }
    return work;
  }

  LogicalResult emitDeviceFunctions() {
    if (target_ == qt::Target::Cpu)
      return success();
    // First, for the error where there is none.
    auto nameCompiler = [&]() -> LogicalResult {
      FailureOr<std::string> compiler = deviceCompiler(module_);
      if (succeeded(compiler))
        program_.device_compiler = *compiler;
      return compiler;
    };
    if (!find_ && failed(nameCompiler()))
      return failure();
    FailureOr<DeviceFunctions> device = compileDeviceFunctions(module_, {target_, std::nullopt}, find_);
    if (failed(device))
      return failure();
    program_.device_sources = qrt::cuda::deviceSourcesDigest();
    compiled_ = device->compiled;
    if (find_ && device->built > 0 && failed(nameCompiler()))
      return failure();
    for (auto &[name, function] : device->functions) {
      auto &out = *program_.device_functions.emplace_back(std::make_unique<fb::DeviceFunctionT>());
      out.name = name;
      out.symbol = std::move(function.symbol);
      out.image = std::move(function.image);
    }
    return success();
  }

  std::unique_ptr<fb::EntryT> emitEntry(step::EntryOp entry) {
    auto out = std::make_unique<fb::EntryT>();
    out->kind = static_cast<fb::EntryKind>(entry.getKind());
    if (ArrayRef<int64_t> bucket = entry.getBucket(); !bucket.empty())
      out->bucket = std::make_unique<fb::Bucket>(bucket[0], bucket[1], bucket[2], bucket[3]);
    out->io_bytes = entry.getIoBytes();
    out->transient_bytes = entry.getTransientBytes();

    DenseMap<Value, int32_t> indices;
    auto index = [&](Value memory) {
      auto [it, isNew] = indices.try_emplace(memory, static_cast<int32_t>(out->slices.size()));
      if (isNew)
        out->slices.push_back(emitSlice(memory));
      return it->second;
    };
    for (Operation &op : *entry.getBody()) {
      if (auto argument = dyn_cast<step::ArgumentOp>(op)) {
        auto row = std::make_unique<fb::ArgumentT>();
        row->role = static_cast<fb::ArgumentRole>(argument.getRole());
        row->slice = index(argument.getMemory());
        out->arguments.push_back(std::move(row));
      } else if (auto result = dyn_cast<step::ResultOp>(op)) {
        auto row = std::make_unique<fb::ResultT>();
        row->role = static_cast<fb::ResultRole>(result.getRole());
        row->slice = index(result.getMemory());
        out->results.push_back(std::move(row));
      } else if (auto watch = dyn_cast<step::WatchOp>(op)) {
        auto row = std::make_unique<fb::DebugValueT>();
        row->name = watch.getName().str();
        row->gradient = watch.getGradient();
        row->instruction = static_cast<uint32_t>(out->instructions.size()) - 1;
        row->slice = index(watch.getValue());
        out->debug.push_back(std::move(row));
      } else if (isa<step::InstructionOpInterface>(op)) {
        auto row = std::make_unique<fb::InstructionT>();
        auto scope = op.getAttrOfType<StringAttr>(qt::kScopeAttr);
        row->scope = strings_.index(scope ? scope.getValue() : StringRef());
        row->recomputed = op.hasAttr(qt::kRecomputedAttr);
        row->work = emitWork(&op, index);
        out->instructions.push_back(std::move(row));
      }
    }
    return out;
  }

  ModuleOp module_;
  const FindDeviceFunction &find_;
  int64_t compiled_ = 0;
  qt::Target target_ = qt::Target::Cpu;
  fb::ProgramT program_;
  StringTable strings_, kernels_;
  DenseMap<StringAttr, Place> places_;
};

} // namespace

FailureOr<std::vector<uint8_t>> emitProgram(ModuleOp module, const FindDeviceFunction &find, int64_t *compiled) {
  ProgramEmitter emitter(module, find);
  FailureOr<std::vector<uint8_t>> bytes = emitter.run();
  if (compiled)
    *compiled += emitter.compiled();
  return bytes;
}

} // namespace qcc
