// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled training program in memory: what a .qprog says (runtime/schema/step_program.fbs), decoded and checked.
#ifndef RUNTIME_PROGRAM_PROGRAM_H
#define RUNTIME_PROGRAM_PROGRAM_H

#include "runtime/base/File.h"
#include "runtime/kernels/Expression.h"
#include "runtime/kernels/Kernel.h"
#include "runtime/schema/Version.h"

#include <array>
#include <optional>
#include <variant>

namespace qrt {

/// The enumerations have the values of the schema.
enum class Space : uint8_t { State, Gradients, Io, Transient };
constexpr int kNumSpaces = 4;
std::string_view spaceName(Space space);

enum class EntryKind : uint8_t { Step = 1, Accumulate = 2, Apply = 3, Eval = 4 };
std::string_view entryKindName(EntryKind kind);

/// Whether a run may need entries of this kind: one that accumulates gradients over micro-batches needs all (a step of
/// a single row is taken as one), another takes each row as a step and evaluates.
constexpr bool isNeeded(EntryKind kind, bool accumulate) {
  return accumulate || kind == EntryKind::Step || kind == EntryKind::Eval;
}

enum class ArgumentRole : uint8_t { Ids, Labels, EmbeddingOrder, Segments, InverseTokens, Hyper, Seed };
constexpr int kNumArgumentRoles = 7;
std::string_view argumentRoleName(ArgumentRole role);

enum class ResultRole : uint8_t { Loss, RowLoss, GradNorm };
constexpr int kNumResultRoles = 3;
std::string_view resultRoleName(ResultRole role);

enum class InitKind : uint8_t { Zeros, Ones, Normal, LogUniform };

/// Bytes of each space, indexed by Space.
using SpaceBytes = std::array<int64_t, kNumSpaces>;
constexpr int64_t totalBytes(const SpaceBytes &spaces) { return spaces[0] + spaces[1] + spaces[2] + spaces[3]; }

/// A strided tensor in a space. `end` is the byte after the last one it touches.
struct Slice {
  Space space = Space::State;
  int64_t offset = 0;
  int64_t end = 0;
  TensorShape shape;
};

/// Calls a kernel of the catalog. An absent optional argument has slice -1.
struct Launch {
  Kernel kernel;
  std::vector<int32_t> slices;
  /// Of each argument: Read, Write or InOut.
  std::vector<ArgEffect> effects;
  std::vector<ParamValue> params;
  /// Memory of this call alone, f32 [n] in Transient; -1: none.
  int32_t workspace = -1;
  /// Of a call of `pointwise`.
  std::optional<Expression> expression = std::nullopt;

  /// Null where it has none.
  const Expression *expressionOrNull() const { return expression ? &*expression : nullptr; }
};

/// c = op(a) op(b), or c += op(a) op(b); op transposes where asked.
struct Gemm {
  int32_t a, b, c;
  bool transposeA, transposeB, accumulate;
};

struct Copy {
  int32_t source, target;
};

/// Every byte of the slice's elements becomes zero.
struct Fill {
  int32_t target;
};

struct Instruction {
  std::variant<Launch, Gemm, Copy, Fill> work;
  /// The part of the model that it belongs to: "layers.3.linear_attn". Lives as long as the program.
  std::string_view scope;
  /// Computes again what the forward pass computed.
  bool recomputed = false;
};

/// "gated_delta_rule", "gemm", "copy", "fill".
std::string_view instructionName(const Instruction &instruction);

/// After `instruction`, `slice` holds the value `name`: a hidden state, or the gradient of a parameter or pack.
struct DebugValue {
  std::string_view name;
  bool isGradient;
  int32_t instruction;
  int32_t slice;
};

/// Machine code of a function of the device that the program is compiled for. Lives as long as the program.
struct DeviceFunction {
  std::string_view name, symbol;
  std::span<const uint8_t> image;
};

/// One function of the program for one bucket. `Apply` belongs to no bucket: its extents are zero.
struct Entry {
  EntryKind kind = EntryKind::Step;
  BucketShape bucket;
  std::vector<Slice> slices;
  std::vector<Instruction> instructions;
  /// Index of a slice by role, -1: the entry does not have it.
  std::array<int32_t, kNumArgumentRoles> arguments;
  std::array<int32_t, kNumResultRoles> results;
  std::vector<DebugValue> debug;
  int64_t ioBytes = 0;
  int64_t transientBytes = 0;

  const Slice *argument(ArgumentRole role) const { return sliceOrNull(arguments[static_cast<int>(role)]); }
  const Slice *result(ResultRole role) const { return sliceOrNull(results[static_cast<int>(role)]); }
  /// "step 8192", "apply".
  std::string name() const;

private:
  const Slice *sliceOrNull(int32_t index) const { return index < 0 ? nullptr : &slices[static_cast<size_t>(index)]; }
};

/// A buffer of State or Gradients, dense.
struct BufferRef {
  Space space = Space::State;
  int64_t offset = 0;
  DType dtype = DType::F32;

  bool operator==(const BufferRef &) const = default;
};

/// The buffers that a parameter may have.
enum class ParameterPart : uint8_t { Weight, Gradient, Master, ExpAvg, ExpAvgSq };
constexpr int kNumParameterParts = 5;
std::string_view parameterPartName(ParameterPart part);

/// Members of a pack are parameters of their own: their buffers lie next to one another.
struct Parameter {
  std::string name;
  std::vector<int64_t> shape;
  int64_t elements = 0;
  /// Names a checkpoint may hold it under, the preferred one first.
  std::vector<std::string> checkpointNames;
  /// Names under which a checkpoint may hold the same values once more, as a head tied to the embedding.
  std::vector<std::string> tiedNames;
  InitKind init = InitKind::Zeros;
  /// Normal: mean and standard deviation. LogUniform: the bounds of the uniform number whose logarithm it is.
  double initA = 0, initB = 0;
  bool frozen = false;
  /// Weight decay applies.
  bool decay = false;
  /// Index of its pack, -1: none.
  int32_t pack = -1;
  /// Indexed by ParameterPart.
  std::array<std::optional<BufferRef>, kNumParameterParts> parts;

  const std::optional<BufferRef> &part(ParameterPart which) const { return parts[static_cast<int>(which)]; }
  const BufferRef &weight() const { return *part(ParameterPart::Weight); }

  bool operator==(const Parameter &) const = default;
};

struct Pack {
  std::string name;
  /// Indices of parameters, stacked along their first dimension in this order.
  std::vector<uint32_t> members;

  bool operator==(const Pack &) const = default;
};

/// A program is read from untrusted bytes and checked in full before it exists: every slice lies in its space, every
/// call is one that its kernel accepts, nothing is written that the entry's kind must not write. An error names the
/// file, and where it applies the entry, the instruction and its scope. Immutable.
class Program {
public:
  /// Maps the file.
  static StatusOr<Program> open(const std::string &path);
  /// Takes the bytes; `source` stands for the path in messages.
  static StatusOr<Program> fromBytes(std::vector<uint8_t> bytes, const std::string &source);

  const std::string &source() const { return source_; }
  std::span<const uint8_t> bytes() const { return file_ ? file_->bytes() : std::span<const uint8_t>(memory_); }
  ProgramVersion version() const { return version_; }
  std::string_view producer() const { return producer_; }
  std::string_view target() const { return target_; }
  /// The options of the build, `key=value`, sorted.
  const std::vector<std::string> &options() const { return options_; }
  /// Beginnings of the names of tensors that a checkpoint may have beside the model.
  const std::vector<std::string> &otherTensors() const { return otherTensors_; }
  /// The module before it was specialised to buckets, as MLIR bytecode.
  std::span<const uint8_t> model() const { return model_; }
  /// JSON text.
  std::string_view modelConfig() const { return modelConfig_; }
  int64_t vocabulary() const { return vocabulary_; }

  const std::vector<Parameter> &parameters() const { return parameters_; }
  const std::vector<Pack> &packs() const { return packs_; }
  /// The parameter of this name, null if there is none.
  const Parameter *findParameter(std::string_view name) const;
  /// i64 [2] in State: optimizer steps taken and skipped.
  const BufferRef &counters() const { return counters_; }
  int64_t stateBytes() const { return stateBytes_; }
  int64_t gradientBytes() const { return gradientBytes_; }

  /// The machine code of all device functions.
  int64_t deviceCodeBytes() const;
  /// SHA-256 of the sources of the device functions; empty if there are none.
  std::string_view deviceSources() const { return deviceSources_; }
  /// Null if there is none of this name.
  const DeviceFunction *findDeviceFunction(std::string_view name) const;

  const std::vector<Entry> &entries() const { return entries_; }
  /// The entry of this kind and bucket, null if there is none. Apply has the empty bucket.
  const Entry *findEntry(EntryKind kind, const BucketShape &bucket) const;

  /// What the spaces hold in a run: Gradients only where it accumulates them over micro-batches; Io and Transient what
  /// the largest of the entries needs.
  SpaceBytes spaceBytes(bool accumulate) const;

private:
  friend class ProgramDecoder;
  Program() = default;
  static StatusOr<Program> load(Program program);

  std::string source_;
  std::optional<MappedFile> file_;
  std::vector<uint8_t> memory_;
  ProgramVersion version_{};
  std::string_view producer_, target_, modelConfig_, deviceSources_;
  std::vector<std::string> options_, otherTensors_;
  std::span<const uint8_t> model_;
  int64_t vocabulary_ = 0;
  std::vector<Parameter> parameters_;
  std::vector<Pack> packs_;
  /// Indices of parameters_, sorted by name.
  std::vector<uint32_t> byName_;
  BufferRef counters_;
  int64_t stateBytes_ = 0, gradientBytes_ = 0;
  std::vector<Entry> entries_;
  /// Sorted by name.
  std::vector<DeviceFunction> deviceFunctions_;
};

/// Whether `other` was compiled for the same state: parameters, their places, packs, counters, vocabulary and target.
/// InvalidData naming the first difference.
Status checkSameState(const Program &program, const Program &other);

} // namespace qrt

#endif // RUNTIME_PROGRAM_PROGRAM_H
