// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What must hold between the parts of a program whose single tables are sound.
#include "runtime/base/Json.h"
#include "runtime/base/SegmentTable.h"
#include "runtime/kernels/Signature.h"
#include "runtime/program/Decode.h"
#include "runtime/program/Overlap.h"

#include <algorithm>
#include <map>
#include <set>

namespace qrt {

namespace {

/// A run of bytes of State or Gradients that one instruction may touch as a whole: a buffer of a parameter, or of all
/// members of a pack.
struct Region {
  Space space;
  int64_t begin, end;
  DType dtype;
  bool writable;
  std::string what;

  auto key() const { return std::pair(space, begin); }
};

/// The regions of a program, sorted. Their disjointness is checked in verifyParameters.
std::vector<Region> regionsOf(const Program &program) {
  std::vector<Region> regions;
  auto add = [&](const BufferRef &buffer, int64_t elements, bool writable, std::string what) {
    regions.push_back({buffer.space, buffer.offset, buffer.offset + elements * byteSize(buffer.dtype), buffer.dtype,
                       writable, std::move(what)});
  };
  for (int part = 0; part < kNumParameterParts; ++part) {
    std::string_view partName = parameterPartName(static_cast<ParameterPart>(part));
    for (const Parameter &parameter : program.parameters())
      if (parameter.parts[part] && parameter.pack < 0)
        add(*parameter.parts[part], parameter.elements, !parameter.frozen,
            fmt::format("{} of parameter {}", partName, quoteForMessage(parameter.name)));
    for (const Pack &pack : program.packs()) {
      const Parameter &first = program.parameters()[pack.members[0]];
      int64_t elements = 0;
      for (uint32_t member : pack.members)
        elements += program.parameters()[member].elements;
      if (first.parts[part])
        add(*first.parts[part], elements, !first.frozen,
            fmt::format("{} of pack {}", partName, quoteForMessage(pack.name)));
    }
  }
  add(program.counters(), 2, true, "counters");
  std::sort(regions.begin(), regions.end(), [](const Region &a, const Region &b) { return a.key() < b.key(); });
  return regions;
}

Status failure(const Program &program, const std::string &what) {
  return Status(StatusCode::InvalidData, program.source() + ": " + what);
}

bool isTrainedType(DType dtype) { return dtype == DType::F32 || dtype == DType::BF16; }

Status verifyFormats(const Program &program, const Parameter &parameter) {
  std::string where = fmt::format("parameter {}", quoteForMessage(parameter.name));
  auto fail = [&](const std::string &what) { return failure(program, where + ": " + what); };
  if (!parameter.part(ParameterPart::Weight))
    return fail("it has no weight");
  for (int part = 0; part < kNumParameterParts; ++part) {
    const std::optional<BufferRef> &buffer = parameter.parts[part];
    if (!buffer)
      continue;
    auto which = static_cast<ParameterPart>(part);
    std::string_view partName = parameterPartName(which);
    Space space = which == ParameterPart::Gradient ? Space::Gradients : Space::State;
    bool f32 = which == ParameterPart::Gradient || which == ParameterPart::Master;
    if (buffer->space != space)
      return fail(fmt::format("{}: expected a buffer of {}, got one of {}", partName, spaceName(space),
                              spaceName(buffer->space)));
    if (f32 ? buffer->dtype != DType::F32 : !isTrainedType(buffer->dtype))
      return fail(
          fmt::format("{}: expected {}, got {}", partName, f32 ? "f32" : "f32 or bf16", dtypeName(buffer->dtype)));
    int64_t spaceBytes = space == Space::State ? program.stateBytes() : program.gradientBytes();
    int64_t size = byteSize(buffer->dtype);
    if (parameter.elements > spaceBytes / size || buffer->offset > spaceBytes - parameter.elements * size)
      return fail(fmt::format("{}: {} elements of {} at {} lie outside the {} bytes of {}", partName,
                              parameter.elements, dtypeName(buffer->dtype), buffer->offset, spaceBytes,
                              spaceName(space)));
    if (buffer->offset % size != 0)
      return fail(fmt::format("{}: offset {} is not a multiple of {}", partName, buffer->offset, size));
    if (parameter.frozen && which != ParameterPart::Weight)
      return fail(fmt::format("{}: a frozen parameter has only its weight", partName));
  }
  if (parameter.part(ParameterPart::ExpAvg).has_value() != parameter.part(ParameterPart::ExpAvgSq).has_value())
    return fail("expected both moments or none, got one");
  if (parameter.part(ParameterPart::Master) && parameter.weight().dtype != DType::BF16)
    return fail("a master belongs to a bf16 weight");
  return Status();
}

Status verifyPack(const Program &program, const Pack &pack, size_t index) {
  auto fail = [&](const std::string &what) {
    return failure(program, fmt::format("pack {}: {}", quoteForMessage(pack.name), what));
  };
  if (pack.members.empty())
    return fail("it has no member");
  const Parameter &first = program.parameters()[pack.members[0]];
  if (first.shape.empty())
    return fail("its members are scalars");
  std::array<int64_t, kNumParameterParts> next{};
  for (uint32_t m : pack.members) {
    const Parameter &member = program.parameters()[m];
    std::string name = quoteForMessage(member.name);
    if (member.pack != static_cast<int64_t>(index))
      return fail(fmt::format("member {} says that it belongs to pack {}", name, member.pack));
    if (member.shape.size() != first.shape.size() ||
        !std::equal(member.shape.begin() + 1, member.shape.end(), first.shape.begin() + 1))
      return fail(fmt::format("member {} has the shape [{}], which does not stack on [{}]", name,
                              fmt::join(member.shape, ", "), fmt::join(first.shape, ", ")));
    if (member.frozen != first.frozen || member.decay != first.decay)
      return fail(fmt::format("member {} is trained otherwise than {}", name, quoteForMessage(first.name)));
    for (int part = 0; part < kNumParameterParts; ++part) {
      std::string_view partName = parameterPartName(static_cast<ParameterPart>(part));
      const std::optional<BufferRef> &buffer = member.parts[part];
      if (buffer.has_value() != first.parts[part].has_value() || (buffer && buffer->dtype != first.parts[part]->dtype))
        return fail(
            fmt::format("member {} has another kind of {} than {}", name, partName, quoteForMessage(first.name)));
      if (!buffer)
        continue;
      if (&member != &first && buffer->offset != next[part])
        return fail(fmt::format("the {} of member {} is expected at {}, behind the member before, got {}", partName,
                                name, next[part], buffer->offset));
      next[part] = buffer->offset + member.elements * byteSize(buffer->dtype);
    }
  }
  return Status();
}

} // namespace

Status verifyParameters(const Program &program) {
  std::set<std::string_view> names, checkpointNames;
  auto unique = [&](std::set<std::string_view> &set, std::string_view name, std::string_view what) {
    return set.insert(name).second ? Status()
                                   : failure(program, fmt::format("{} {} is there twice", what, quoteForMessage(name)));
  };
  for (const Parameter &parameter : program.parameters()) {
    QRT_RETURN_IF_ERROR(unique(names, parameter.name, "parameter"));
    for (const std::string &name : parameter.checkpointNames)
      QRT_RETURN_IF_ERROR(unique(checkpointNames, name, "checkpoint name"));
    for (const std::string &name : parameter.tiedNames)
      QRT_RETURN_IF_ERROR(unique(checkpointNames, name, "checkpoint name"));
    QRT_RETURN_IF_ERROR(verifyFormats(program, parameter));
  }
  std::vector<bool> packed(program.parameters().size());
  for (size_t i = 0; i < program.packs().size(); ++i) {
    const Pack &pack = program.packs()[i];
    QRT_RETURN_IF_ERROR(unique(names, pack.name, "pack"));
    QRT_RETURN_IF_ERROR(verifyPack(program, pack, i));
    for (uint32_t member : pack.members) {
      if (packed[member])
        return failure(program, fmt::format("parameter {} is twice in a pack",
                                            quoteForMessage(program.parameters()[member].name)));
      packed[member] = true;
    }
  }
  for (size_t i = 0; i < program.parameters().size(); ++i)
    if (program.parameters()[i].pack >= 0 && !packed[i])
      return failure(program, fmt::format("parameter {} is not in the pack that it names",
                                          quoteForMessage(program.parameters()[i].name)));

  const BufferRef &counters = program.counters();
  if (counters.space != Space::State || counters.dtype != DType::I64 || counters.offset % 8 != 0 ||
      program.stateBytes() < 16 || counters.offset > program.stateBytes() - 16)
    return failure(program, fmt::format("counters: expected i64[2] in state, got {} at {} of {}",
                                        dtypeName(counters.dtype), counters.offset, spaceName(counters.space)));
  std::vector<Region> regions = regionsOf(program);
  for (size_t i = 1; i < regions.size(); ++i)
    if (regions[i].space == regions[i - 1].space && regions[i].begin < regions[i - 1].end)
      return failure(program, fmt::format("{} overlaps {}", regions[i].what, regions[i - 1].what));
  return Status();
}

std::string describeInstruction(const Program &program, const Entry &entry, size_t instruction) {
  const Instruction &it = entry.instructions[instruction];
  return fmt::format("{}: entry {}: instruction {} ({}, {})", program.source(), entry.name(), instruction,
                     instructionName(it), quoteForMessage(it.scope));
}

namespace {

class EntryVerifier {
public:
  EntryVerifier(const Program &program, const Entry &entry)
      : program_(program), entry_(entry), regions_(regionsOf(program)) {
    for (const Instruction &instruction : entry.instructions)
      if (const Launch *launch = std::get_if<Launch>(&instruction.work))
        for (size_t i = 0; i < launch->slices.size(); ++i)
          if (launch->slices[i] >= 0 && readsUpdated(*launch, i))
            updated_.emplace(launch->slices[i], false);
  }

  Status run() {
    QRT_RETURN_IF_ERROR(verifyRoles());
    for (size_t i = 0; i < entry_.slices.size(); ++i)
      QRT_RETURN_IF_ERROR(verifyPlace(i));
    for (size_t i = 0; i < entry_.instructions.size(); ++i) {
      Status status = verifyInstruction(entry_.instructions[i]);
      if (!status.ok())
        return std::move(status).withContext(describeInstruction(program_, entry_, i));
      track(entry_.instructions[i]);
    }
    return verifyDebug();
  }

private:
  const Slice &slice(int32_t index) const { return entry_.slices[static_cast<size_t>(index)]; }
  Status fail(const std::string &what) const {
    return failure(program_, fmt::format("entry {}: {}", entry_.name(), what));
  }
  static Status invalid(std::string what) { return Status(StatusCode::InvalidData, std::move(what)); }

  Status verifyRoles() {
    using enum ArgumentRole;
    bool required[kNumArgumentRoles] = {}, allowed[kNumArgumentRoles] = {};
    bool forward = entry_.kind != EntryKind::Apply,
         backward = entry_.kind == EntryKind::Step || entry_.kind == EntryKind::Accumulate;
    bool optimizer = entry_.kind == EntryKind::Step || entry_.kind == EntryKind::Apply;
    for (ArgumentRole role : {Ids, Labels, Segments})
      required[static_cast<int>(role)] = allowed[static_cast<int>(role)] = forward;
    required[static_cast<int>(InverseTokens)] = allowed[static_cast<int>(InverseTokens)] = backward;
    // Absent where the embedding is frozen.
    allowed[static_cast<int>(EmbeddingOrder)] = backward;
    required[static_cast<int>(Hyper)] = allowed[static_cast<int>(Hyper)] = optimizer;
    allowed[static_cast<int>(Seed)] = optimizer;
    for (int role = 0; role < kNumArgumentRoles; ++role) {
      bool present = entry_.arguments[role] >= 0;
      if (present ? !allowed[role] : required[role])
        return fail(fmt::format("argument '{}' {}", argumentRoleName(static_cast<ArgumentRole>(role)),
                                present ? "does not belong to this kind of entry" : "is missing"));
    }
    bool resultRequired[kNumResultRoles] = {forward, false, optimizer};
    bool resultAllowed[kNumResultRoles] = {forward, entry_.kind == EntryKind::Eval, optimizer};
    for (int role = 0; role < kNumResultRoles; ++role) {
      bool present = entry_.results[role] >= 0;
      if (present ? !resultAllowed[role] : resultRequired[role])
        return fail(fmt::format("result '{}' {}", resultRoleName(static_cast<ResultRole>(role)),
                                present ? "does not belong to this kind of entry" : "is missing"));
    }

    const BucketShape &bucket = entry_.bucket;
    const std::pair<DType, int64_t> argumentTypes[kNumArgumentRoles] = {
        {DType::I32, bucket.tokens},
        {DType::I32, bucket.tokens},
        {DType::I32, bucket.tokens},
        {DType::I32, SegmentLayout{bucket}.size()},
        {DType::F32, -1},
        {DType::F32, sizeof(Hyperparameters) / sizeof(float)},
        {DType::I64, -1}};
    const std::pair<DType, int64_t> resultTypes[kNumResultRoles] = {
        {DType::F32, -1}, {DType::F32, bucket.trained}, {DType::F32, -1}};
    for (int role = 0; role < kNumArgumentRoles; ++role)
      QRT_RETURN_IF_ERROR(verifyRole(entry_.arguments[role], argumentTypes[role],
                                     fmt::format("argument '{}'", argumentRoleName(static_cast<ArgumentRole>(role)))));
    for (int role = 0; role < kNumResultRoles; ++role)
      QRT_RETURN_IF_ERROR(verifyRole(entry_.results[role], resultTypes[role],
                                     fmt::format("result '{}'", resultRoleName(static_cast<ResultRole>(role)))));
    // Dense, so their ranges say it all.
    for (int32_t a : ioSlices())
      for (int32_t b : ioSlices())
        if (a != b && slice(a).offset < slice(b).end && slice(b).offset < slice(a).end)
          return fail(fmt::format("arguments and results overlap: slices {} and {}", a, b));
    return Status();
  }

  /// The slices of all arguments and results that are present.
  std::vector<int32_t> ioSlices() const {
    std::vector<int32_t> slices;
    for (int32_t index : entry_.arguments)
      if (index >= 0)
        slices.push_back(index);
    for (int32_t index : entry_.results)
      if (index >= 0)
        slices.push_back(index);
    return slices;
  }

  /// `length` -1: a scalar.
  Status verifyRole(int32_t index, std::pair<DType, int64_t> type, const std::string &what) const {
    if (index < 0)
      return Status();
    auto [dtype, length] = type;
    const TensorShape &shape = slice(index).shape;
    bool fits = shape.dtype == dtype && (length < 0 ? shape.rank == 0 : shape.rank == 1 && shape.dims[0] == length);
    if (!fits)
      return fail(fmt::format("{}: expected {}[{}], got {}", what, dtypeName(dtype),
                              length < 0 ? "" : std::to_string(length), printShape(shape)));
    if (slice(index).space != Space::Io)
      return fail(fmt::format("{}: expected it in io, got {}", what, spaceName(slice(index).space)));
    return Status();
  }

  /// The region that holds all of a slice of State or Gradients, null if there is none.
  const Region *regionOf(const Slice &slice) const {
    auto after = std::upper_bound(regions_.begin(), regions_.end(), std::pair(slice.space, slice.offset),
                                  [](auto key, const Region &region) { return key < region.key(); });
    if (after == regions_.begin())
      return nullptr;
    const Region &region = *std::prev(after);
    return region.space == slice.space && slice.end <= region.end ? &region : nullptr;
  }

  /// Whether a slice lies where a value may be.
  Status verifyPlace(size_t index) const {
    const Slice &it = entry_.slices[index];
    if (it.space == Space::Gradients && entry_.kind != EntryKind::Accumulate && entry_.kind != EntryKind::Apply)
      return fail(fmt::format("slice {}: only gradients that are accumulated lie in the space of gradients", index));
    if (it.space == Space::State || it.space == Space::Gradients) {
      const Region *region = regionOf(it);
      if (!region)
        return fail(fmt::format("slice {}: {} at {} of {} is not part of one buffer of the parameter table", index,
                                printShape(it.shape), it.offset, spaceName(it.space)));
      if (region->dtype != it.shape.dtype)
        return fail(fmt::format("slice {}: {} in {}, which is {}", index, printShape(it.shape), region->what,
                                dtypeName(region->dtype)));
    }
    return Status();
  }

  Status verifyWrite(int32_t index) const {
    const Slice &it = slice(index);
    switch (it.space) {
    case Space::Transient:
      return Status();
    case Space::Io:
      for (int32_t result : entry_.results)
        if (result >= 0 && it.offset >= slice(result).offset && it.end <= slice(result).end)
          return Status();
      return invalid(fmt::format("writes slice {} of io, which is no result", index));
    case Space::Gradients:
      return Status();
    case Space::State:
      if (entry_.kind != EntryKind::Step && entry_.kind != EntryKind::Apply)
        return invalid(fmt::format("writes slice {} of the state in an entry that must not", index));
      if (const Region *region = regionOf(it); !region->writable)
        return invalid(fmt::format("writes the {}, which is frozen", region->what));
      return Status();
    }
    return Status();
  }

  Status verifyRead(int32_t index) const {
    const Slice &it = slice(index);
    if (it.space != Space::Io)
      return Status();
    for (int32_t io : ioSlices())
      if (it.offset >= slice(io).offset && it.end <= slice(io).end && it.shape.dtype == slice(io).shape.dtype)
        return Status();
    return invalid(fmt::format("reads slice {} of io, which is neither an argument nor a result", index));
  }

  struct Access {
    int32_t slice;
    ArgEffect effect;
    std::string_view name;
  };

  Status verifyAccesses(std::span<const Access> accesses) const {
    for (size_t i = 0; i < accesses.size(); ++i) {
      const Access &access = accesses[i];
      if (access.effect != ArgEffect::Write)
        QRT_RETURN_IF_ERROR(verifyRead(access.slice));
      if (access.effect == ArgEffect::Read)
        continue;
      QRT_RETURN_IF_ERROR(verifyWrite(access.slice));
      for (size_t j = 0; j < accesses.size(); ++j)
        if (i != j && mayOverlap(slice(access.slice), slice(accesses[j].slice)))
          return invalid(fmt::format("'{}' is written and overlaps '{}' (slices {} and {})", access.name,
                                     accesses[j].name, access.slice, accesses[j].slice));
    }
    return Status();
  }

  static bool samePlace(const Slice &a, const Slice &b) {
    return a.space == b.space && a.offset == b.offset && a.shape.dtype == b.shape.dtype &&
           a.shape.rank == b.shape.rank && std::equal(a.shape.dims, a.shape.dims + a.shape.rank, b.shape.dims) &&
           std::equal(a.shape.strides, a.shape.strides + a.shape.rank, b.shape.strides);
  }

  /// Whether a slice holds labels at this point: the argument, or what was gathered from it and not overwritten since.
  bool holdsLabels(const Slice &it) const {
    auto same = [&](int32_t index) { return samePlace(slice(index), it); };
    int32_t argument = entry_.arguments[static_cast<int>(ArgumentRole::Labels)];
    return (argument >= 0 && same(argument)) || std::any_of(labels_.begin(), labels_.end(), same);
  }

  /// Whether the numbers that a kernel will take for indices are ones that the runtime has checked
  /// (Session::loadBatch).
  Status verifyIndices(const Launch &launch, size_t arg, const ArgInfo &info) const {
    const Slice &it = slice(launch.slices[arg]);
    IndexKind kind = indexKind(info, it.shape.dtype);
    if (kind == IndexKind::None || launch.effects[arg] != ArgEffect::Read)
      return Status();
    if (kind == IndexKind::Labels)
      return holdsLabels(it)
                 ? Status()
                 : invalid(fmt::format("argument '{}': slice {} does not hold labels", info.name, launch.slices[arg]));
    ArgumentRole role = kind == IndexKind::Ids     ? ArgumentRole::Ids
                        : kind == IndexKind::Order ? ArgumentRole::EmbeddingOrder
                                                   : ArgumentRole::Segments;
    const Slice *argument = entry_.argument(role);
    if (!argument || !samePlace(*argument, it))
      return invalid(fmt::format("argument '{}': slice {} is not the entry's argument '{}'", info.name,
                                 launch.slices[arg], argumentRoleName(role)));
    return Status();
  }

  /// The table that ids or labels index must have a row for each of the vocabulary.
  Status verifyVocabulary(const Launch &launch) const {
    int arg;
    switch (launch.kernel) {
    case Kernel::Embedding:
      arg = 2;
      break;
    case Kernel::EmbeddingGrad:
      arg = 4;
      break;
    case Kernel::LinearCrossEntropy:
    case Kernel::LinearCrossEntropyGrad:
      arg = 1;
      break;
    default:
      return Status();
    }
    const TensorShape &shape = slice(launch.slices[static_cast<size_t>(arg)]).shape;
    if (shape.dims[0] >= program_.vocabulary())
      return Status();
    return invalid(fmt::format("argument '{}': expected a row for each of the {} tokens of the vocabulary, got {}",
                               kernelInfo(launch.kernel).args[static_cast<size_t>(arg)].name, program_.vocabulary(),
                               printShape(shape)));
  }

  static bool readsUpdated(const Launch &launch, size_t arg) {
    return kernelInfo(launch.kernel).arg(arg).effect == ArgEffect::ReadUpdated;
  }

  /// Follows where labels and updated values are after an instruction.
  void track(const Instruction &instruction) {
    int32_t written = -1;
    auto write = [&](int32_t target, ArgEffect effect = ArgEffect::Write) {
      std::erase_if(labels_, [&](int32_t index) { return mayOverlap(slice(index), slice(target)); });
      for (auto &[index, updated] : updated_)
        if (mayOverlap(slice(index), slice(target)))
          updated = effect == ArgEffect::InOut && samePlace(slice(index), slice(target));
    };
    if (const Launch *launch = std::get_if<Launch>(&instruction.work)) {
      for (size_t i = 0; i < launch->slices.size(); ++i)
        if (launch->slices[i] >= 0 && launch->effects[i] != ArgEffect::Read)
          write(launch->slices[i], launch->effects[i]);
      if (launch->workspace >= 0)
        write(launch->workspace);
      if (launch->kernel == Kernel::GatherRows && slice(launch->slices[2]).shape.dtype == DType::I32)
        written = launch->slices[2];
    } else if (const Gemm *gemm = std::get_if<Gemm>(&instruction.work)) {
      write(gemm->c);
    } else if (const Copy *copy = std::get_if<Copy>(&instruction.work)) {
      bool labels = holdsLabels(slice(copy->source));
      write(copy->target);
      if (labels)
        written = copy->target;
    } else {
      write(std::get<Fill>(instruction.work).target);
    }
    if (written >= 0)
      labels_.push_back(written);
  }

  Status verifyInstruction(const Instruction &instruction) {
    if (const Launch *launch = std::get_if<Launch>(&instruction.work))
      return verifyLaunch(*launch);
    if (const Gemm *gemm = std::get_if<Gemm>(&instruction.work))
      return verifyGemm(*gemm);
    if (const Copy *copy = std::get_if<Copy>(&instruction.work)) {
      const TensorShape &source = slice(copy->source).shape, &target = slice(copy->target).shape;
      if (source.dtype != target.dtype || source.rank != target.rank ||
          !std::equal(source.dims, source.dims + source.rank, target.dims))
        return invalid(
            fmt::format("expected two tensors of one type, got {} to {}", printShape(source), printShape(target)));
      return verifyAccesses(std::array{Access{copy->source, ArgEffect::Read, "source"},
                                       Access{copy->target, ArgEffect::Write, "target"}});
    }
    return verifyAccesses(std::array{Access{std::get<Fill>(instruction.work).target, ArgEffect::Write, "target"}});
  }

  Status verifyLaunch(const Launch &launch) {
    const KernelInfo &info = kernelInfo(launch.kernel);
    shapes_.clear();
    accesses_.clear();
    for (size_t i = 0; i < launch.slices.size(); ++i) {
      int32_t index = launch.slices[i];
      shapes_.push_back(index < 0 ? std::nullopt : std::optional(slice(index).shape));
      if (index >= 0)
        accesses_.push_back({index, launch.effects[i], info.arg(i).name});
    }
    QRT_RETURN_IF_ERROR(
        checkCall(launch.kernel, shapes_, launch.effects, launch.params, entry_.bucket, launch.expressionOrNull()));
    for (size_t i = 0; i < launch.slices.size(); ++i)
      if (launch.slices[i] >= 0)
        QRT_RETURN_IF_ERROR(verifyIndices(launch, i, info.arg(i)));
    QRT_RETURN_IF_ERROR(verifyVocabulary(launch));
    // AdamW divides by 1 - beta^step, of a step that has been counted.
    for (size_t i = 0; i < launch.slices.size(); ++i)
      if (launch.slices[i] >= 0 && readsUpdated(launch, i) && !updated_.at(launch.slices[i]))
        return invalid(fmt::format("argument '{}': expected a call before that updates slice {}", info.arg(i).name,
                                   launch.slices[i]));
    if (launch.workspace >= 0) {
      const Slice &workspace = slice(launch.workspace);
      if (workspace.space != Space::Transient || workspace.shape.dtype != DType::F32 || workspace.shape.rank != 1 ||
          !isDense(workspace.shape))
        return invalid(fmt::format("workspace: expected f32[n] in transient, got {} in {}", printShape(workspace.shape),
                                   spaceName(workspace.space)));
      accesses_.push_back({launch.workspace, ArgEffect::Write, "workspace"});
    }
    return verifyAccesses(accesses_);
  }

  Status verifyGemm(const Gemm &gemm) {
    const TensorShape &a = slice(gemm.a).shape, &b = slice(gemm.b).shape, &c = slice(gemm.c).shape;
    auto describe = [&] {
      return fmt::format("got {}{} x {}{} to {}", printShape(a), gemm.transposeA ? "'" : "", printShape(b),
                         gemm.transposeB ? "'" : "", printShape(c));
    };
    if (a.rank != 2 || b.rank != 2 || c.rank != 2)
      return invalid("expected three matrices, " + describe());
    int64_t m = a.dims[gemm.transposeA], k = a.dims[!gemm.transposeA], n = b.dims[!gemm.transposeB];
    if (b.dims[gemm.transposeB] != k || c.dims[0] != m || c.dims[1] != n)
      return invalid("expected [m, k] x [k, n] to [m, n] after the transpositions, " + describe());
    if (a.dtype != b.dtype || !isTrainedType(a.dtype) || !isTrainedType(c.dtype))
      return invalid("expected f32 or bf16, the same for both factors, " + describe());
    if (c.dtype != DType::F32 && (c.dtype != a.dtype || gemm.accumulate))
      return invalid(gemm.accumulate ? "expected to add to f32, " + describe()
                                     : "expected c in f32 or the type of its factors, " + describe());
    return verifyAccesses(std::array{Access{gemm.a, ArgEffect::Read, "a"}, Access{gemm.b, ArgEffect::Read, "b"},
                                     Access{gemm.c, gemm.accumulate ? ArgEffect::InOut : ArgEffect::Write, "c"}});
  }

  Status verifyDebug() const {
    std::set<std::string_view> packs;
    std::set<std::pair<bool, std::string_view>> seen;
    for (const Pack &pack : program_.packs())
      packs.insert(pack.name);
    for (const DebugValue &value : entry_.debug) {
      std::string what = fmt::format("debug value {}", quoteForMessage(value.name));
      if (!seen.emplace(value.isGradient, value.name).second)
        return fail(what + ": there twice");
      const TensorShape &shape = slice(value.slice).shape;
      if (!isTrainedType(shape.dtype))
        return fail(fmt::format("{}: expected f32 or bf16, got {}", what, printShape(shape)));
      if (!value.isGradient)
        continue;
      // A gradient is that of a parameter, of a pack, or of a hidden state of this entry.
      auto hidden = std::find_if(entry_.debug.begin(), entry_.debug.end(), [&](const DebugValue &other) {
        return !other.isGradient && other.name == value.name;
      });
      const Parameter *parameter = program_.findParameter(value.name);
      if (hidden != entry_.debug.end()) {
        const TensorShape &state = slice(hidden->slice).shape;
        if (!std::equal(state.dims, state.dims + state.rank, shape.dims, shape.dims + shape.rank))
          return fail(fmt::format("{}: expected a gradient of the shape of the hidden state, {}, got {}", what,
                                  printShape(state), printShape(shape)));
        continue;
      }
      if (parameter ? !std::equal(parameter->shape.begin(), parameter->shape.end(), shape.dims, shape.dims + shape.rank)
                    : !packs.contains(value.name))
        return fail(fmt::format(
            "{}: expected a gradient to have the name and the shape of a parameter, pack or hidden state, got {}", what,
            printShape(shape)));
    }
    return Status();
  }

  const Program &program_;
  const Entry &entry_;
  std::vector<Region> regions_;
  std::vector<std::optional<TensorShape>> shapes_;
  std::vector<Access> accesses_;
  /// Slices of Transient that hold labels after the instructions so far.
  std::vector<int32_t> labels_;
  /// The slices that some call reads as ReadUpdated, and whether they hold the updated value after the instructions so
  /// far.
  std::map<int32_t, bool> updated_;
};

} // namespace

Status verifyEntry(const Program &program, const Entry &entry) { return EntryVerifier(program, entry).run(); }

} // namespace qrt
