// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the tables of the file to the structures of Program.h. Whatever stands alone is checked here: enumerations,
// indices, slices, sizes.
#include "runtime/program/Decode.h"

#include "runtime/base/Json.h"
#include "runtime/program/Overlap.h"
#include "runtime/schema/Digest.h"
#include "runtime/schema/step_program_generated.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace qrt {

namespace {

// Program.h and DType.h spell the enumerations of the schema again; values pass from one to the other by a cast.
#define QRT_SAME(Enum, name) static_assert(static_cast<int>(Enum::name) == static_cast<int>(fb::Enum##_##name))
QRT_SAME(DType, F32);
QRT_SAME(DType, BF16);
QRT_SAME(DType, F16);
QRT_SAME(DType, F64);
QRT_SAME(DType, I32);
QRT_SAME(DType, I64);
QRT_SAME(DType, U8);
QRT_SAME(Space, State);
QRT_SAME(Space, Gradients);
QRT_SAME(Space, Io);
QRT_SAME(Space, Transient);
QRT_SAME(EntryKind, Step);
QRT_SAME(EntryKind, Accumulate);
QRT_SAME(EntryKind, Apply);
QRT_SAME(EntryKind, Eval);
QRT_SAME(ArgumentRole, Ids);
QRT_SAME(ArgumentRole, Labels);
QRT_SAME(ArgumentRole, EmbeddingOrder);
QRT_SAME(ArgumentRole, Segments);
QRT_SAME(ArgumentRole, InverseTokens);
QRT_SAME(ArgumentRole, Hyper);
QRT_SAME(ArgumentRole, Seed);
QRT_SAME(ResultRole, Loss);
QRT_SAME(ResultRole, RowLoss);
QRT_SAME(ResultRole, GradNorm);
QRT_SAME(InitKind, Zeros);
QRT_SAME(InitKind, Ones);
QRT_SAME(InitKind, Normal);
QRT_SAME(InitKind, LogUniform);
#define QRT_EXPRESSION_OP(Name, text, operands, flops) QRT_SAME(ExpressionOp, Name);
#include "runtime/kernels/expression.def"
#undef QRT_SAME
static_assert(kNumSpaces == fb::Space_MAX + 1 && kNumArgumentRoles == fb::ArgumentRole_MAX + 1 &&
              kNumResultRoles == fb::ResultRole_MAX + 1 && kNumExpressionOps == fb::ExpressionOp_MAX + 1);

/// No space is larger: offsets, ends and their sums stay far from overflow.
constexpr int64_t kMaxSpaceBytes = int64_t{1} << 60;

} // namespace

StatusOr<const fb::Program *> openFlatbuffer(std::span<const uint8_t> bytes, const std::string &source) {
  if (bytes.size() < 16 || bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return error(StatusCode::InvalidData, "{}: not a compiled program: expected 16 bytes to 2 GiB, got {}", source,
                 bytes.size());
  if (!fb::ProgramBufferHasIdentifier(bytes.data()))
    return error(StatusCode::InvalidData, "{}: not a compiled program: expected the file identifier '{}', got {}",
                 source, fb::ProgramIdentifier(),
                 quoteForMessage(std::string_view(reinterpret_cast<const char *>(bytes.data()) + 4, 4)));

  // Every table is reached through an offset of four bytes; a file whose tables share parts over and over would cost
  // more than its size.
  auto maxTables = static_cast<flatbuffers::uoffset_t>(bytes.size() / 4 + 16);
  {
    // The version alone: a file of another major version may have another structure.
    flatbuffers::Verifier peek(bytes.data(), bytes.size(), 8, maxTables);
    if (peek.VerifyOffset(0)) {
      const auto *root = flatbuffers::GetRoot<flatbuffers::Table>(bytes.data());
      if (root->VerifyTableStart(peek) && root->VerifyField<uint32_t>(peek, fb::Program::VT_VERSION_MAJOR, 4) &&
          root->VerifyField<uint32_t>(peek, fb::Program::VT_VERSION_MINOR, 4)) {
        ProgramVersion version{root->GetField<uint32_t>(fb::Program::VT_VERSION_MAJOR, 0),
                               root->GetField<uint32_t>(fb::Program::VT_VERSION_MINOR, 0)};
        if (version.major != kProgramVersion.major || version.minor > kProgramVersion.minor)
          return error(
              StatusCode::Unsupported,
              "{}: a program of version {}.{}; this runtime reads version {}.{} and earlier minor versions: build it "
              "again with the compiler of this version",
              source, version.major, version.minor, kProgramVersion.major, kProgramVersion.minor);
      }
    }
  }
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), 8, maxTables);
  if (!fb::VerifyProgramBuffer(verifier))
    return error(StatusCode::InvalidData, "{}: damaged: its structure is not that of a compiled program", source);
  if (const flatbuffers::String *recorded = fb::GetProgram(bytes.data())->sha256()) {
    std::string_view expected(recorded->c_str(), recorded->size());
    if (!isSha256(expected))
      return error(StatusCode::InvalidData, "{}: damaged: sha256: expected 64 hexadecimal digits, got {}", source,
                   quoteForMessage(expected));
    QRT_ASSIGN_OR_RETURN(std::string actual, programDigest(bytes, expected));
    if (actual != expected)
      return error(StatusCode::InvalidData, "{}: damaged: its SHA-256 is {}, it says {}", source, actual, expected);
  }
  return fb::GetProgram(bytes.data());
}

/// Fills a Program from a flatbuffer whose structure is sound.
class ProgramDecoder {
public:
  ProgramDecoder(Program &program, const fb::Program &file)
      : program_(program), file_(file), numbersLeft_(static_cast<int64_t>(program.bytes().size()) / 8) {}

  Status run() {
    QRT_RETURN_IF_ERROR(decodeHeader());
    QRT_RETURN_IF_ERROR(decodeParameters());
    QRT_RETURN_IF_ERROR(decodePacks());
    QRT_RETURN_IF_ERROR(verifyParameters(program_));
    QRT_RETURN_IF_ERROR(decodeKernels());
    QRT_RETURN_IF_ERROR(decodeDeviceFunctions());
    if (file_.entries()->size() == 0)
      return fail("expected at least one entry, got none");
    program_.entries_.resize(file_.entries()->size());
    for (size_t i = 0; i < program_.entries_.size(); ++i)
      QRT_RETURN_IF_ERROR(decodeEntry(*file_.entries()->Get(static_cast<uint32_t>(i)), program_.entries_[i], i));
    return checkEntries();
  }

private:
  /// The flatbuffer verifier aligns a vector to its length, not to elements of 8 bytes.
  static int64_t numberAt(const flatbuffers::Vector<int64_t> &numbers, uint32_t index) {
    int64_t number;
    std::memcpy(&number, numbers.Data() + index * sizeof(number), sizeof(number));
    return number;
  }

  static std::string_view view(const flatbuffers::String *text) {
    return text ? std::string_view(text->c_str(), text->size()) : std::string_view();
  }

  template <typename... Args> Status fail(fmt::format_string<Args...> format, Args &&...args) const {
    return Status(StatusCode::InvalidData, program_.source() + ": " + fmt::format(format, std::forward<Args>(args)...));
  }

  Status decodeHeader() {
    program_.version_ = {file_.version_major(), file_.version_minor()};
    program_.producer_ = view(file_.producer());
    program_.target_ = view(file_.target());
    program_.modelConfig_ = view(file_.model_config());
    program_.model_ = {file_.model()->data(), file_.model()->size()};
    for (const flatbuffers::String *option : *file_.options())
      program_.options_.push_back(option->str());
    if (file_.other_tensors())
      for (const flatbuffers::String *prefix : *file_.other_tensors()) {
        if (prefix->size() == 0)
          return fail("other_tensors: expected beginnings of names, got ''");
        program_.otherTensors_.push_back(prefix->str());
      }
    program_.vocabulary_ = file_.vocabulary();
    if (program_.vocabulary_ < 1 || program_.vocabulary_ > BucketShape::kMaxTokens)
      return fail("vocabulary: expected 1 to {}, got {}", BucketShape::kMaxTokens, program_.vocabulary_);
    QRT_RETURN_IF_ERROR(decodeSize(file_.state_bytes(), program_.stateBytes_, "state_bytes"));
    return decodeSize(file_.gradient_bytes(), program_.gradientBytes_, "gradient_bytes");
  }

  Status decodeSize(uint64_t given, int64_t &bytes, std::string_view what) {
    if (given > static_cast<uint64_t>(kMaxSpaceBytes))
      return fail("{}: expected at most {}, got {}", what, kMaxSpaceBytes, given);
    bytes = static_cast<int64_t>(given);
    return Status();
  }

  Status decodeBuffer(const fb::Buffer *given, std::optional<BufferRef> &buffer, const std::string &where) {
    if (!given)
      return Status();
    if (given->dtype() > fb::DType_MAX)
      return fail("{}: unknown element type {}", where, static_cast<int>(given->dtype()));
    if (given->space() != fb::Space_State && given->space() != fb::Space_Gradients)
      return fail("{}: expected a buffer of state or gradients", where);
    if (given->offset() > static_cast<uint64_t>(kMaxSpaceBytes))
      return fail("{}: offset {} lies outside every space", where, given->offset());
    buffer = BufferRef{static_cast<Space>(given->space()), static_cast<int64_t>(given->offset()),
                       static_cast<DType>(given->dtype())};
    return Status();
  }

  Status decodeParameters() {
    program_.parameters_.resize(file_.parameters()->size());
    for (size_t i = 0; i < program_.parameters_.size(); ++i) {
      const fb::Parameter &given = *file_.parameters()->Get(static_cast<uint32_t>(i));
      Parameter &parameter = program_.parameters_[i];
      parameter.name = given.name()->str();
      std::string where = fmt::format("parameter {}", quoteForMessage(parameter.name));
      if (given.shape()->size() > 4)
        return fail("{}: expected at most 4 dimensions, got {}", where, given.shape()->size());
      parameter.elements = 1;
      for (uint32_t axis = 0; axis < given.shape()->size(); ++axis) {
        int64_t dim = numberAt(*given.shape(), axis);
        if (dim < 1 || __builtin_mul_overflow(parameter.elements, dim, &parameter.elements) ||
            parameter.elements > kMaxSpaceBytes)
          return fail("{}: dimension {} is not positive or makes it too large", where, dim);
        parameter.shape.push_back(dim);
      }
      if (given.checkpoint_names()->size() < 1 || given.checkpoint_names()->size() > 8)
        return fail("{}: expected 1 to 8 checkpoint names, got {}", where, given.checkpoint_names()->size());
      for (const flatbuffers::String *name : *given.checkpoint_names())
        parameter.checkpointNames.push_back(name->str());
      if (given.tied_names())
        for (const flatbuffers::String *name : *given.tied_names())
          parameter.tiedNames.push_back(name->str());
      if (given.init() > fb::InitKind_MAX)
        return fail("{}: unknown initial value {}", where, static_cast<int>(given.init()));
      parameter.init = static_cast<InitKind>(given.init());
      parameter.initA = given.init_a();
      parameter.initB = given.init_b();
      bool sane = std::isfinite(parameter.initA) && std::isfinite(parameter.initB);
      if (parameter.init == InitKind::Normal)
        sane &= parameter.initB >= 0;
      if (parameter.init == InitKind::LogUniform)
        sane &= parameter.initA > 0 && parameter.initB > parameter.initA;
      if (!sane)
        return fail("{}: no initial values from {} and {}", where, parameter.initA, parameter.initB);
      parameter.frozen = given.frozen();
      parameter.decay = given.decay();
      parameter.pack = given.pack();
      if (parameter.pack < -1 || parameter.pack >= static_cast<int64_t>(file_.packs()->size()))
        return fail("{}: pack {} is not one of {}", where, parameter.pack, file_.packs()->size());
      const fb::Buffer *buffers[kNumParameterParts] = {given.weight(), given.gradient(), given.master(),
                                                       given.exp_avg(), given.exp_avg_sq()};
      for (int part = 0; part < kNumParameterParts; ++part)
        QRT_RETURN_IF_ERROR(
            decodeBuffer(buffers[part], parameter.parts[part],
                         fmt::format("{}: {}", where, parameterPartName(static_cast<ParameterPart>(part)))));
      program_.byName_.push_back(static_cast<uint32_t>(i));
    }
    std::sort(program_.byName_.begin(), program_.byName_.end(),
              [&](uint32_t a, uint32_t b) { return program_.parameters_[a].name < program_.parameters_[b].name; });
    std::optional<BufferRef> counters;
    QRT_RETURN_IF_ERROR(decodeBuffer(file_.counters(), counters, "counters"));
    program_.counters_ = *counters;
    return Status();
  }

  Status decodePacks() {
    // A parameter is in one pack at most.
    size_t membersLeft = program_.parameters_.size();
    for (const fb::ParameterPack *given : *file_.packs()) {
      Pack pack{given->name()->str(), {}};
      if (given->members()->size() > membersLeft)
        return fail("pack {}: more members than there are parameters", quoteForMessage(pack.name));
      membersLeft -= given->members()->size();
      for (uint32_t member : *given->members()) {
        if (member >= program_.parameters_.size())
          return fail("pack {}: member {} is not one of {} parameters", quoteForMessage(pack.name), member,
                      program_.parameters_.size());
        pack.members.push_back(member);
      }
      program_.packs_.push_back(std::move(pack));
    }
    return Status();
  }

  Status decodeKernels() {
    for (const flatbuffers::String *name : *file_.kernels()) {
      std::optional<Kernel> kernel = kernelByName(view(name));
      if (!kernel)
        return Status(StatusCode::Unsupported, fmt::format("{}: it needs a kernel {}, which this runtime does not have",
                                                           program_.source(), quoteForMessage(view(name))));
      kernels_.push_back(*kernel);
    }
    return Status();
  }

  Status decodeEntry(const fb::Entry &given, Entry &entry, size_t index) {
    if (given.kind() < fb::EntryKind_MIN || given.kind() > fb::EntryKind_MAX)
      return fail("entry {}: unknown kind {}", index, static_cast<int>(given.kind()));
    entry.kind = static_cast<EntryKind>(given.kind());
    if (const fb::Bucket *bucket = given.bucket())
      entry.bucket = {bucket->tokens(), bucket->documents(), bucket->longest(), bucket->trained()};
    if (entry.kind == EntryKind::Apply ? entry.bucket != BucketShape() : !isBucket(entry.bucket))
      return fail("entry {}, {}: the bucket makes no sense", index, entry.name());
    std::string where = "entry " + entry.name();
    QRT_RETURN_IF_ERROR(decodeSize(given.io_bytes(), entry.ioBytes, where + ": io_bytes"));
    QRT_RETURN_IF_ERROR(decodeSize(given.transient_bytes(), entry.transientBytes, where + ": transient_bytes"));
    entry.slices.resize(given.slices()->size());
    for (size_t i = 0; i < entry.slices.size(); ++i)
      QRT_RETURN_IF_ERROR(decodeSlice(*given.slices()->Get(static_cast<uint32_t>(i)), entry.slices[i],
                                      fmt::format("{}: slice {}", where, i), entry));
    entry.instructions.resize(given.instructions()->size());
    for (size_t i = 0; i < entry.instructions.size(); ++i)
      QRT_RETURN_IF_ERROR(
          decodeInstruction(*given.instructions()->Get(static_cast<uint32_t>(i)), entry.instructions[i], i, entry));
    QRT_RETURN_IF_ERROR(decodeRoles(*given.arguments(), entry.arguments, entry, "argument", argumentRoleName));
    QRT_RETURN_IF_ERROR(decodeRoles(*given.results(), entry.results, entry, "result", resultRoleName));
    if (given.debug())
      for (const fb::DebugValue *value : *given.debug()) {
        std::string name = fmt::format("{}: debug value {}", where, quoteForMessage(view(value->name())));
        if (value->instruction() >= entry.instructions.size())
          return fail("{}: instruction {} is not one of {}", name, value->instruction(), entry.instructions.size());
        QRT_RETURN_IF_ERROR(checkSlice(value->slice(), entry, name));
        entry.debug.push_back(
            {view(value->name()), value->gradient(), static_cast<int32_t>(value->instruction()), value->slice()});
      }
    return verifyEntry(program_, entry);
  }

  static bool isBucket(const BucketShape &bucket) {
    return bucket.tokens >= 1 && bucket.tokens <= BucketShape::kMaxTokens &&
           std::min({bucket.documents, bucket.longest, bucket.trained}) >= 1 &&
           std::max({bucket.documents, bucket.longest, bucket.trained}) <= bucket.tokens;
  }

  int64_t bytesOf(Space space, const Entry &entry) const {
    switch (space) {
    case Space::State:
      return program_.stateBytes_;
    case Space::Gradients:
      return program_.gradientBytes_;
    case Space::Io:
      return entry.ioBytes;
    case Space::Transient:
      return entry.transientBytes;
    }
    return 0;
  }

  Status decodeSlice(const fb::Slice &given, Slice &slice, const std::string &where, const Entry &entry) {
    if (given.space() > fb::Space_MAX)
      return fail("{}: unknown space {}", where, static_cast<int>(given.space()));
    if (given.dtype() > fb::DType_MAX)
      return fail("{}: unknown element type {}", where, static_cast<int>(given.dtype()));
    slice.space = static_cast<Space>(given.space());
    TensorShape &shape = slice.shape;
    shape.dtype = static_cast<DType>(given.dtype());
    // A scalar has neither dimensions nor strides.
    size_t rank = given.shape() ? given.shape()->size() : 0, strides = given.strides() ? given.strides()->size() : 0;
    if (rank > 4 || rank != strides)
      return fail("{}: expected at most 4 dimensions and as many strides, got {} and {}", where, rank, strides);
    shape.rank = static_cast<int>(rank);
    int64_t bytes = bytesOf(slice.space, entry), size = byteSize(shape.dtype);
    auto outside = [&] {
      return fail("{}: offset {}, {}[{}] with strides [{}] lies outside the {} bytes of {}", where, given.offset(),
                  dtypeName(shape.dtype), fmt::join(shape.dims, shape.dims + rank, ", "),
                  fmt::join(shape.strides, shape.strides + rank, ", "), bytes, spaceName(slice.space));
    };
    int64_t last = 0;
    bool overflows = false;
    for (uint32_t axis = 0; axis < rank; ++axis) {
      int64_t dim = shape.dims[axis] = numberAt(*given.shape(), axis),
              stride = shape.strides[axis] = numberAt(*given.strides(), axis);
      if (dim < 1 || stride < 0)
        return fail("{}: expected positive dimensions and no negative stride, got {} and {}", where, dim, stride);
      if (axis + 1 == rank && dim != 1 && stride != 1)
        return fail("{}: expected the last stride to be 1, got {}", where, stride);
      // A dimension of 1 steps nowhere, whatever its stride says.
      int64_t step;
      overflows |=
          __builtin_mul_overflow(dim - 1, dim == 1 ? 0 : stride, &step) || __builtin_add_overflow(last, step, &last);
    }
    int64_t length;
    overflows |= __builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, size, &length);
    if (overflows || length > bytes || given.offset() > static_cast<uint64_t>(bytes - length))
      return outside();
    slice.offset = static_cast<int64_t>(given.offset());
    slice.end = slice.offset + length;
    if (slice.offset % size != 0)
      return fail("{}: offset {} is not a multiple of the {} bytes of {}", where, slice.offset, size,
                  dtypeName(shape.dtype));
    // The stride of a dimension of 1 was not checked, and kernels multiply by it: give it the one it has in a dense
    // tensor.
    for (int axis = shape.rank - 1; axis >= 0; --axis)
      if (shape.dims[axis] == 1) {
        int64_t stride = 1;
        for (int inner = axis + 1; inner < shape.rank; ++inner)
          stride = std::max(stride, shape.dims[inner] * shape.strides[inner]);
        shape.strides[axis] = stride;
      }
    if (!isInjective(shape))
      return fail("{}: [{}] with strides [{}] has the same element twice", where,
                  fmt::join(shape.dims, shape.dims + rank, ", "), fmt::join(shape.strides, shape.strides + rank, ", "));
    return Status();
  }

  Status checkSlice(int32_t index, const Entry &entry, const std::string &where) const {
    if (index < 0 || static_cast<size_t>(index) >= entry.slices.size())
      return fail("{}: slice {} is not one of {}", where, index, entry.slices.size());
    return Status();
  }

  Status decodeDeviceFunctions() {
    if (!file_.device_functions())
      return Status();
    if (file_.device_sources())
      program_.deviceSources_ = view(file_.device_sources());
    for (const fb::DeviceFunction *function : *file_.device_functions()) {
      std::string_view name = view(function->name());
      if (!program_.deviceFunctions_.empty() && program_.deviceFunctions_.back().name >= name)
        return fail("device functions: expected names in order, each once, got {} after {}", quoteForMessage(name),
                    quoteForMessage(program_.deviceFunctions_.back().name));
      program_.deviceFunctions_.push_back(
          {name, view(function->symbol()), {function->image()->data(), function->image()->size()}});
    }
    return Status();
  }

  /// What an expression may be is checked with the call it belongs to (checkCall); here, that it is of a small size.
  Status decodeExpression(const fb::Expression &given, Expression &expression, const std::string &where) {
    if (given.steps()->size() > kMaxExpressionSteps || given.results()->size() > kMaxExpressionResults)
      return fail("{}: expected an expression of at most {} steps and {} results, got {} and {}", where,
                  kMaxExpressionSteps, kMaxExpressionResults, given.steps()->size(), given.results()->size());
    // Shared as arguments may be; a step takes 16 bytes here.
    numbersLeft_ -= 2 * int64_t{given.steps()->size()} + given.results()->size();
    if (numbersLeft_ < 0)
      return fail("{}: the file is too small for its expressions", where);
    for (const fb::ExpressionStep *step : *given.steps())
      expression.steps.push_back({static_cast<ExpressionOp>(step->op()), step->a(), step->b(), step->constant()});
    expression.results.assign(given.results()->begin(), given.results()->end());
    return Status();
  }

  Status decodeInstruction(const fb::Instruction &given, Instruction &instruction, size_t index, const Entry &entry) {
    std::string where = fmt::format("entry {}: instruction {}", entry.name(), index);
    if (given.scope() >= file_.strings()->size())
      return fail("{}: scope {} is not one of {} strings", where, given.scope(), file_.strings()->size());
    instruction.scope = view(file_.strings()->Get(given.scope()));
    instruction.recomputed = given.recomputed();
    where += fmt::format(" ({}, {})", fb::EnumNameWork(given.work_type()), quoteForMessage(instruction.scope));
    if (!given.work())
      return fail("{}: there is nothing to do", where);
    switch (given.work_type()) {
    case fb::Work_Launch: {
      Launch launch;
      const fb::Launch &work = *given.work_as_Launch();
      if (work.kernel() >= kernels_.size())
        return fail("{}: kernel {} is not one of {}", where, work.kernel(), kernels_.size());
      launch.kernel = kernels_[work.kernel()];
      // Vectors may be shared in a file, but not here: what we hold must not outgrow it. Arguments and parameters take
      // 8 bytes each.
      numbersLeft_ -= (work.args() ? work.args()->size() : 0) + int64_t{work.params() ? work.params()->size() : 0};
      if (numbersLeft_ < 0)
        return fail("{}: the file is too small for its arguments and parameters", where);
      if (work.args())
        for (const fb::Arg *arg : *work.args()) {
          if (arg->effect() > fb::Effect_MAX)
            return fail("{}: unknown effect {}", where, static_cast<int>(arg->effect()));
          if (arg->slice() != -1)
            QRT_RETURN_IF_ERROR(checkSlice(arg->slice(), entry, where));
          launch.slices.push_back(arg->slice());
          constexpr ArgEffect kEffects[] = {ArgEffect::Read, ArgEffect::Write, ArgEffect::InOut};
          launch.effects.push_back(kEffects[arg->effect()]);
        }
      if (work.params())
        for (uint32_t i = 0; i < work.params()->size(); ++i)
          launch.params.push_back({.i = numberAt(*work.params(), i)});
      launch.workspace = work.workspace();
      if (launch.workspace != -1)
        QRT_RETURN_IF_ERROR(checkSlice(launch.workspace, entry, where));
      if (work.expression())
        QRT_RETURN_IF_ERROR(decodeExpression(*work.expression(), launch.expression.emplace(), where));
      instruction.work = std::move(launch);
      return Status();
    }
    case fb::Work_Gemm: {
      const fb::Gemm &work = *given.work_as_Gemm();
      for (int32_t slice : {work.a(), work.b(), work.c()})
        QRT_RETURN_IF_ERROR(checkSlice(slice, entry, where));
      instruction.work = Gemm{work.a(), work.b(), work.c(), work.transpose_a(), work.transpose_b(), work.accumulate()};
      return Status();
    }
    case fb::Work_Copy: {
      const fb::Copy &work = *given.work_as_Copy();
      for (int32_t slice : {work.source(), work.target()})
        QRT_RETURN_IF_ERROR(checkSlice(slice, entry, where));
      instruction.work = Copy{work.source(), work.target()};
      return Status();
    }
    case fb::Work_Fill: {
      const fb::Fill &work = *given.work_as_Fill();
      QRT_RETURN_IF_ERROR(checkSlice(work.target(), entry, where));
      instruction.work = Fill{work.target()};
      return Status();
    }
    default:
      return fail("{}: unknown kind of instruction {}", where, static_cast<int>(given.work_type()));
    }
  }

  /// Arguments or results: pairs of a role and a slice. `Role` is the enumeration of Program.h.
  template <typename Role, typename List, size_t N>
  Status decodeRoles(const List &given, std::array<int32_t, N> &slices, const Entry &entry, std::string_view what,
                     std::string_view (*roleName)(Role)) {
    slices.fill(-1);
    for (const auto *item : given) {
      auto role = static_cast<size_t>(item->role());
      if (role >= N)
        return fail("entry {}: unknown {} role {}", entry.name(), what, role);
      std::string where = fmt::format("entry {}: {} '{}'", entry.name(), what, roleName(static_cast<Role>(role)));
      if (slices[role] != -1)
        return fail("{}: there twice", where);
      QRT_RETURN_IF_ERROR(checkSlice(item->slice(), entry, where));
      slices[role] = item->slice();
    }
    return Status();
  }

  Status checkEntries() {
    std::set<std::pair<EntryKind, BucketShape>> seen;
    bool accumulates = false, applies = false;
    for (const Entry &entry : program_.entries_) {
      if (!seen.emplace(entry.kind, entry.bucket).second)
        return fail("entry {}: there twice", entry.name());
      accumulates |= entry.kind == EntryKind::Accumulate;
      applies |= entry.kind == EntryKind::Apply;
    }
    if (accumulates && !applies)
      return fail("gradients are accumulated, but no entry applies them");
    return Status();
  }

  Program &program_;
  const fb::Program &file_;
  std::vector<Kernel> kernels_;
  int64_t numbersLeft_;
};

StatusOr<Program> Program::load(Program program) {
  QRT_ASSIGN_OR_RETURN(const fb::Program *file, openFlatbuffer(program.bytes(), program.source_));
  QRT_RETURN_IF_ERROR(ProgramDecoder(program, *file).run());
  return program;
}

StatusOr<Program> Program::open(const std::string &path) {
  Program program;
  program.source_ = path;
  QRT_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  program.file_ = std::move(file);
  return load(std::move(program));
}

StatusOr<Program> Program::fromBytes(std::vector<uint8_t> bytes, const std::string &source) {
  Program program;
  program.source_ = source;
  program.memory_ = std::move(bytes);
  return load(std::move(program));
}

} // namespace qrt
