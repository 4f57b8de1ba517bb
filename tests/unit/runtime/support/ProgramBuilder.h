// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small programs made by hand: what the compiler would emit, without one. Nothing is checked here, so that tests can
// write wrong programs.
#ifndef TESTS_UNIT_RUNTIME_SUPPORT_PROGRAMBUILDER_H
#define TESTS_UNIT_RUNTIME_SUPPORT_PROGRAMBUILDER_H

#include "runtime/base/SegmentTable.h"
#include "runtime/kernels/Kernel.h"
#include "runtime/program/Program.h"
#include "runtime/schema/step_program_generated.h"

#include <bit>
#include <cassert>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace qrt::test {

inline std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i])
    strides[i] = stride;
  return strides;
}

class ProgramBuilder;

/// One entry. Slices are known by their index.
class EntryBuilder {
public:
  EntryBuilder(ProgramBuilder &program, fb::EntryT &entry) : program_(program), entry_(entry) {}

  fb::EntryT &entry() { return entry_; }
  fb::SliceT &at(int slice) { return *entry_.slices[static_cast<size_t>(slice)]; }

  /// A slice at a place of the caller's choice.
  int slice(Space space, int64_t offset, DType dtype, std::vector<int64_t> shape, std::vector<int64_t> strides) {
    auto slice = std::make_unique<fb::SliceT>();
    slice->space = static_cast<fb::Space>(space);
    slice->offset = static_cast<uint64_t>(offset);
    slice->dtype = static_cast<fb::DType>(dtype);
    slice->shape = std::move(shape);
    slice->strides = std::move(strides);
    entry_.slices.push_back(std::move(slice));
    return static_cast<int>(entry_.slices.size()) - 1;
  }
  /// A new dense tensor in Io or Transient.
  int tensor(Space space, DType dtype, const std::vector<int64_t> &shape) {
    uint64_t &end = space == Space::Io ? entry_.io_bytes : entry_.transient_bytes;
    auto offset = static_cast<int64_t>(end);
    int64_t elements = 1;
    for (int64_t dim : shape)
      elements *= dim;
    end = (end + static_cast<uint64_t>(elements * byteSize(dtype)) + 63) / 64 * 64;
    return slice(space, offset, dtype, shape, denseStrides(shape));
  }
  int transient(DType dtype, const std::vector<int64_t> &shape) { return tensor(Space::Transient, dtype, shape); }
  /// Columns [begin, begin + count) of a matrix.
  int columns(int matrix, int64_t begin, int64_t count) {
    fb::SliceT copy = at(matrix);
    return slice(static_cast<Space>(copy.space),
                 static_cast<int64_t>(copy.offset) + begin * byteSize(static_cast<DType>(copy.dtype)),
                 static_cast<DType>(copy.dtype), {copy.shape[0], count}, copy.strides);
  }
  /// A buffer of a parameter, or of a pack, whose first member `parameter` is, with `rows` rows.
  int part(int parameter, ParameterPart part, int64_t rows = 0);
  int counters();

  int argument(ArgumentRole role) {
    const fb::Bucket &bucket = *entry_.bucket;
    int slice = -1;
    switch (role) {
    case ArgumentRole::Ids:
    case ArgumentRole::Labels:
    case ArgumentRole::EmbeddingOrder:
      slice = tensor(Space::Io, DType::I32, {bucket.tokens()});
      break;
    case ArgumentRole::Segments:
      slice = tensor(Space::Io, DType::I32,
                     {SegmentLayout{{bucket.tokens(), bucket.documents(), bucket.longest(), bucket.trained()}}.size()});
      break;
    case ArgumentRole::InverseTokens:
      slice = tensor(Space::Io, DType::F32, {});
      break;
    case ArgumentRole::Hyper:
      slice = tensor(Space::Io, DType::F32, {8});
      break;
    case ArgumentRole::Seed:
      slice = tensor(Space::Io, DType::I64, {});
      break;
    }
    auto argument = std::make_unique<fb::ArgumentT>();
    argument->role = static_cast<fb::ArgumentRole>(role);
    argument->slice = slice;
    entry_.arguments.push_back(std::move(argument));
    return slice;
  }
  int result(ResultRole role) {
    int slice = role == ResultRole::RowLoss ? tensor(Space::Io, DType::F32, {entry_.bucket->trained()})
                                            : tensor(Space::Io, DType::F32, {});
    auto result = std::make_unique<fb::ResultT>();
    result->role = static_cast<fb::ResultRole>(role);
    result->slice = slice;
    entry_.results.push_back(std::move(result));
    return slice;
  }

  /// Slices in catalog order, -1: absent. Effects are the catalog's; `accumulated` lists arguments that are added to.
  /// Returns the instruction's index.
  int launch(Kernel kernel, const std::vector<int> &slices, const std::vector<ParamValue> &params = {},
             std::initializer_list<int> accumulated = {}, const std::string &scope = "");
  /// Gives the last instruction, a launch, memory of its own.
  void workspace(int slice) { entry_.instructions.back()->work.AsLaunch()->workspace = slice; }
  int gemm(int a, int b, int c, bool transposeA, bool transposeB, bool accumulate = false) {
    fb::GemmT gemm;
    gemm.a = a;
    gemm.b = b;
    gemm.c = c;
    gemm.transpose_a = transposeA;
    gemm.transpose_b = transposeB;
    gemm.accumulate = accumulate;
    return add(std::move(gemm));
  }
  int copy(int source, int target) {
    fb::CopyT copy;
    copy.source = source;
    copy.target = target;
    return add(copy);
  }
  int fill(int target) {
    fb::FillT fill;
    fill.target = target;
    return add(fill);
  }
  /// The value that `slice` holds after the last instruction so far.
  void debug(const std::string &name, int slice, bool gradient) {
    auto value = std::make_unique<fb::DebugValueT>();
    value->name = name;
    value->gradient = gradient;
    value->instruction = static_cast<uint32_t>(entry_.instructions.size()) - 1;
    value->slice = slice;
    entry_.debug.push_back(std::move(value));
  }

private:
  template <typename Work> int add(Work work, const std::string &scope = "");

  ProgramBuilder &program_;
  fb::EntryT &entry_;
};

class ProgramBuilder {
public:
  explicit ProgramBuilder(int64_t vocabulary) {
    program.version_major = kProgramVersion.major;
    program.version_minor = kProgramVersion.minor;
    program.producer = "program-builder";
    program.target = "cpu";
    program.options = {"dtype=f32"};
    program.model = {1, 2, 3};
    program.model_config = "{}";
    program.other_tensors = {"mtp.", "model.visual."};
    program.vocabulary = vocabulary;
    program.strings = {""};
    program.counters = buffer(Space::State, 2, DType::I64);
  }

  /// What the file will say; change it at will.
  fb::ProgramT program;

  struct Formats {
    DType weight = DType::F32;
    bool trained = true;
    /// Only with a bf16 weight.
    bool master = false;
    DType moments = DType::F32;
    bool decay = true;
    InitKind init = InitKind::Normal;
    double initA = 0, initB = 0.02;
  };
  int parameter(const std::string &name, const std::vector<int64_t> &shape, const Formats &formats) {
    return parameters({{name, shape}}, formats);
  }
  /// Parameters whose buffers of each kind lie one after the other, for a pack. Returns the index of the first.
  int parameters(const std::vector<std::pair<std::string, std::vector<int64_t>>> &list, const Formats &formats) {
    int first = static_cast<int>(program.parameters.size());
    std::vector<int64_t> elements;
    for (const auto &[name, shape] : list) {
      auto parameter = std::make_unique<fb::ParameterT>();
      parameter->name = name;
      parameter->shape = shape;
      parameter->checkpoint_names = {"model.language_model." + name, "model." + name};
      parameter->init = static_cast<fb::InitKind>(formats.init);
      parameter->init_a = formats.initA;
      parameter->init_b = formats.initB;
      parameter->frozen = !formats.trained;
      parameter->decay = formats.decay;
      program.parameters.push_back(std::move(parameter));
      elements.push_back(1);
      for (int64_t dim : shape)
        elements.back() *= dim;
    }
    auto place = [&](std::unique_ptr<fb::BufferT> fb::ParameterT::*part, Space space, DType dtype) {
      // Only the first of a run is aligned.
      align(space);
      for (size_t i = 0; i < list.size(); ++i)
        ((*program.parameters[static_cast<size_t>(first) + i]).*part) = buffer(space, elements[i], dtype);
    };
    place(&fb::ParameterT::weight, Space::State, formats.weight);
    if (formats.trained) {
      place(&fb::ParameterT::gradient, Space::Gradients, DType::F32);
      if (formats.master)
        place(&fb::ParameterT::master, Space::State, DType::F32);
      place(&fb::ParameterT::exp_avg, Space::State, formats.moments);
      place(&fb::ParameterT::exp_avg_sq, Space::State, formats.moments);
    }
    return first;
  }
  void pack(const std::string &name, const std::vector<uint32_t> &members) {
    for (uint32_t member : members)
      program.parameters[member]->pack = static_cast<int32_t>(program.packs.size());
    auto pack = std::make_unique<fb::ParameterPackT>();
    pack->name = name;
    pack->members = members;
    program.packs.push_back(std::move(pack));
  }

  EntryBuilder entry(EntryKind kind, const BucketShape &bucket) {
    auto entry = std::make_unique<fb::EntryT>();
    entry->kind = static_cast<fb::EntryKind>(kind);
    entry->bucket = std::make_unique<fb::Bucket>(bucket.tokens, bucket.documents, bucket.longest, bucket.trained);
    program.entries.push_back(std::move(entry));
    return {*this, *program.entries.back()};
  }

  uint16_t kernel(Kernel kernel) {
    std::string name(kernelInfo(kernel).name);
    for (size_t i = 0; i < program.kernels.size(); ++i)
      if (program.kernels[i] == name)
        return static_cast<uint16_t>(i);
    program.kernels.push_back(name);
    return static_cast<uint16_t>(program.kernels.size() - 1);
  }
  uint32_t string(const std::string &text) {
    for (size_t i = 0; i < program.strings.size(); ++i)
      if (program.strings[i] == text)
        return static_cast<uint32_t>(i);
    program.strings.push_back(text);
    return static_cast<uint32_t>(program.strings.size() - 1);
  }

  std::vector<uint8_t> bytes() const {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(fb::CreateProgram(builder, &program), fb::ProgramIdentifier());
    return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
  }
  StatusOr<Program> build(const std::string &source = "test.qprog") const {
    return Program::fromBytes(bytes(), source);
  }

private:
  uint64_t &endOf(Space space) { return space == Space::State ? program.state_bytes : program.gradient_bytes; }
  void align(Space space) { endOf(space) = (endOf(space) + 63) / 64 * 64; }
  std::unique_ptr<fb::BufferT> buffer(Space space, int64_t elements, DType dtype) {
    auto buffer = std::make_unique<fb::BufferT>();
    buffer->space = static_cast<fb::Space>(space);
    buffer->offset = endOf(space);
    buffer->dtype = static_cast<fb::DType>(dtype);
    endOf(space) += static_cast<uint64_t>(elements * byteSize(dtype));
    return buffer;
  }
};

template <typename Work> int EntryBuilder::add(Work work, const std::string &scope) {
  auto instruction = std::make_unique<fb::InstructionT>();
  instruction->work.Set(std::move(work));
  instruction->scope = program_.string(scope);
  entry_.instructions.push_back(std::move(instruction));
  return static_cast<int>(entry_.instructions.size()) - 1;
}

inline int EntryBuilder::part(int parameter, ParameterPart which, int64_t rows) {
  const fb::ParameterT &it = *program_.program.parameters[static_cast<size_t>(parameter)];
  const std::unique_ptr<fb::BufferT> *buffers[] = {&it.weight, &it.gradient, &it.master, &it.exp_avg, &it.exp_avg_sq};
  const fb::BufferT &buffer = **buffers[static_cast<int>(which)];
  std::vector<int64_t> shape = it.shape;
  if (rows > 0)
    shape[0] = rows;
  return slice(static_cast<Space>(buffer.space), static_cast<int64_t>(buffer.offset), static_cast<DType>(buffer.dtype),
               shape, denseStrides(shape));
}

inline int EntryBuilder::counters() {
  return slice(Space::State, static_cast<int64_t>(program_.program.counters->offset), DType::I64, {2}, {1});
}

inline int EntryBuilder::launch(Kernel kernel, const std::vector<int> &slices, const std::vector<ParamValue> &params,
                                std::initializer_list<int> accumulated, const std::string &scope) {
  fb::LaunchT launch;
  launch.kernel = program_.kernel(kernel);
  const KernelInfo &info = kernelInfo(kernel);
  for (size_t i = 0; i < slices.size(); ++i) {
    fb::Effect effect = fb::Effect_Write;
    if (ArgEffect declared = callEffect(info.arg(i).effect); declared != ArgEffect::Write)
      effect = declared == ArgEffect::Read ? fb::Effect_Read : fb::Effect_InOut;
    for (int index : accumulated)
      if (static_cast<size_t>(index) == i)
        effect = fb::Effect_InOut;
    launch.args.emplace_back(slices[i], effect);
  }
  for (ParamValue param : params)
    launch.params.push_back(param.i);
  return add(std::move(launch), scope);
}

} // namespace qrt::test

#endif // TESTS_UNIT_RUNTIME_SUPPORT_PROGRAMBUILDER_H
