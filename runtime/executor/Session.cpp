// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/executor/Session.h"

#include "runtime/base/Digits.h"
#include "runtime/base/IgnoredLabel.h"
#include "runtime/base/Stopwatch.h"
#include "runtime/data/Buckets.h"
#include "runtime/executor/FillSegmentTable.h"
#include "runtime/program/Memory.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace qrt {

namespace {

/// The bucket to compile for a row that none takes.
BucketShape bucketToBuild(const BucketShape &row, std::span<const BucketShape> existing) {
  // The row length, if programs are there that have it.
  for (const BucketShape &bucket : existing)
    if (bucket.tokens >= row.tokens)
      return roundedBucket(row, bucket.tokens);
  return roundedBucket(row, (std::max<int64_t>(row.tokens, 1) + 63) / 64 * 64);
}

/// Bytes of io that hold the arguments and results of any bucket of so many tokens: ids, labels and order, the segment
/// table, the losses of rows, and scalars, each where alignment may put it.
int64_t largestIo(int64_t tokens) {
  constexpr int64_t kSlack = (kNumArgumentRoles + kNumResultRoles) * 256;
  return 4 * (4 * tokens + SegmentLayout{BucketShape::anyOf(tokens)}.size()) + kSlack;
}

} // namespace

StatusOr<std::unique_ptr<Session>> Session::create(std::vector<Program> programs, std::unique_ptr<Device> device,
                                                   const SessionOptions &options) {
  if (programs.empty())
    return error(StatusCode::InvalidUsage, "expected at least one program");
  for (const Program &program : programs)
    if (!device->runsTarget(program.target()))
      return error(StatusCode::Unsupported, "{}: it was built for the target '{}', which this device ({}) does not run",
                   program.source(), program.target(), device->description());
  std::unique_ptr<Session> session(new Session(std::move(device), options));
  Stopwatch watch;
  QRT_RETURN_IF_ERROR(session->reserve(programs));
  session->reserveMilliseconds_ = watch.milliseconds();
  for (Program &program : programs)
    QRT_RETURN_IF_ERROR(session->add(std::move(program), Choosing::Carefully));
  session->prepareMilliseconds_ = watch.milliseconds() - session->reserveMilliseconds_;
  return session;
}

Status Session::reserve(std::span<const Program> programs) {
  SpaceBytes bytes{};
  for (const Program &program : programs) {
    SpaceBytes its = program.spaceBytes(options_.accumulate);
    for (int space = 0; space < kNumSpaces; ++space)
      bytes[space] = std::max(bytes[space], its[space]);
  }
  int64_t code = 0;
  for (const Program &program : programs)
    code += program.deviceCodeBytes();
  DeviceOverhead overhead = deviceOverhead(programs[0].target(), code);
  AvailableMemory available = device_->availableMemory();
  if (options_.memoryLimit > 0 && (available.bytes == 0 || options_.memoryLimit < available.bytes))
    available = {options_.memoryLimit, "the limit"};
  // A program's spaces are far below the overflow.
  plannedBytes_ = totalBytes(bytes) + overhead.total();
  if (options_.specializer) {
    // A program built for this very limit leaves no room for more.
    int64_t &io = bytes[static_cast<int>(Space::Io)];
    int64_t more = 0;
    for (const Program &program : programs)
      for (const Entry &entry : program.entries())
        more = std::max(more, largestIo(entry.bucket.tokens) - io);
    if (available.bytes > 0)
      more = std::min(more, std::max<int64_t>(available.bytes - plannedBytes_, 0));
    io += more;
    plannedBytes_ += more;
  }
  std::string list;
  auto add = [&](std::string_view what, int64_t its) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", what, printGib(its));
  };
  for (int space = 0; space < kNumSpaces; ++space)
    add(spaceName(static_cast<Space>(space)), bytes[space]);
  if (overhead.total() > 0) {
    add("workspace of matrix products", overhead.workspace);
    add("machine code", overhead.code);
    add("context", overhead.context);
  }
  if (available.bytes > 0 && plannedBytes_ > available.bytes)
    return error(StatusCode::ResourceExhausted, "{}: needs {}: {}; that is {} more than the {} of {}; {}",
                 programs[0].source(), printBytes(plannedBytes_), list, printGib(plannedBytes_ - available.bytes),
                 printBytes(available.bytes), available.owner,
                 lessMemory(programs[0], options_.accumulate, available.bytes));
  return device_->reserve(bytes);
}

Status Session::add(Program given, Choosing choosing) {
  if (!programs_.empty())
    QRT_RETURN_IF_ERROR(checkSameState(*programs_[0], given));
  // The device checks what each entry needs against what is reserved; nothing is kept of a program that fails in the
  // middle.
  auto program = std::make_unique<const Program>(std::move(given));
  std::vector<Prepared> added;
  for (const Entry &entry : program->entries()) {
    if (!isNeeded(entry.kind, options_.accumulate) || find(entry.kind, entry.bucket))
      continue;
    QRT_ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable, device_->prepare(*program, entry, choosing));
    added.push_back({&entry, std::move(executable)});
  }
  for (Prepared &prepared : added) {
    const BucketShape &bucket = prepared.entry->bucket;
    auto tokens = static_cast<size_t>(bucket.tokens);
    for (std::vector<int32_t> *array : {&ids_, &labels_, &embeddingOrder_})
      array->reserve(tokens);
    segments_.reserve(static_cast<size_t>(SegmentLayout{bucket}.size()));
    prepared_.push_back(std::move(prepared));
  }
  programs_.push_back(std::move(program));
  return Status();
}

const Session::Prepared *Session::find(EntryKind kind, const BucketShape &bucket) const {
  for (const Prepared &prepared : prepared_)
    if (prepared.entry->kind == kind && prepared.entry->bucket == bucket)
      return &prepared;
  return nullptr;
}

std::vector<BucketShape> Session::buckets(EntryKind kind) const {
  std::vector<BucketShape> buckets;
  for (const Prepared &prepared : prepared_)
    if (prepared.entry->kind == kind)
      buckets.push_back(prepared.entry->bucket);
  return buckets;
}

StatusOr<BucketShape> Session::bucketFor(EntryKind kind, const BucketShape &row) {
  std::vector<BucketShape> existing = buckets(kind);
  StatusOr<size_t> found = findBucket(existing, row);
  if (found.ok())
    return existing[*found];
  BucketShape needed = bucketToBuild(row, existing);
  std::string name = printBucket(needed);
  if (!options_.specializer) {
    Status status = std::move(found).status();
    return Status(status.code(), fmt::format("{}: {}; build the program with the bucket {} as well", program().source(),
                                             status.message(), name));
  }
  QRT_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, options_.specializer->specialize(program(), needed));
  QRT_ASSIGN_OR_RETURN(Program program,
                       Program::fromBytes(std::move(bytes), fmt::format("the program for bucket {}", name)));
  QRT_RETURN_IF_ERROR(addProgram(std::move(program)));
  if (!has(kind, needed))
    return error(StatusCode::InvalidData, "the program for bucket {} has no entry '{}' for it", name,
                 entryKindName(kind));
  return needed;
}

Status Session::loadBatch(const HostBatch &batch) {
  const BucketShape &bucket = batch.bucket;
  auto tokens = static_cast<size_t>(bucket.tokens);
  for (const auto &[array, name] :
       {std::pair(&batch.ids, "ids"), std::pair(&batch.labels, "labels"), std::pair(&batch.embeddingOrder, "order")})
    if (array->size() != tokens)
      return error(StatusCode::InvalidData, "{}: expected {} of them, the tokens of the bucket, got {}", name, tokens,
                   array->size());
  int64_t vocabulary = program().vocabulary();
  for (size_t t = 0; t < tokens; ++t) {
    if (batch.ids[t] < 0 || batch.ids[t] >= vocabulary)
      return error(StatusCode::InvalidData, "token {}: id {} is outside the vocabulary of {}", t, batch.ids[t],
                   vocabulary);
    if (batch.labels[t] != kIgnoredLabel && (batch.labels[t] < 0 || batch.labels[t] >= vocabulary))
      return error(StatusCode::InvalidData, "token {}: label {} is outside the vocabulary of {}", t, batch.labels[t],
                   vocabulary);
  }
  segments_.resize(static_cast<size_t>(SegmentLayout{bucket}.size()));
  QRT_RETURN_IF_ERROR(fillSegmentTable({bucket}, batch.documentOffsets, batch.trainedRows, segments_));
  // Positions of the documents' tokens, then -1.
  int64_t end = batch.documentOffsets.back();
  for (size_t t = 0; t < tokens; ++t)
    if (int32_t position = batch.embeddingOrder[t];
        static_cast<int64_t>(t) < end ? position < 0 || position >= end : position != -1)
      return error(StatusCode::InvalidData, "order {}: {} is not the position of a token", t, position);
  ids_.assign(batch.ids.begin(), batch.ids.end());
  labels_.assign(batch.labels.begin(), batch.labels.end());
  embeddingOrder_.assign(batch.embeddingOrder.begin(), batch.embeddingOrder.end());
  bucket_ = bucket;
  return Status();
}

void Session::setScalars(float inverseTokens, const Hyperparameters &hyper, int64_t seed) {
  inverseTokens_ = inverseTokens;
  hyper_ = hyper;
  seed_ = seed;
}

void Session::fillArguments(const Entry &entry) {
  const void *sources[kNumArgumentRoles] = {
      ids_.data(), labels_.data(), embeddingOrder_.data(), segments_.data(), &inverseTokens_, &hyper_, &seed_};
  for (int role = 0; role < kNumArgumentRoles; ++role)
    if (const Slice *slice = entry.argument(static_cast<ArgumentRole>(role)))
      std::memcpy(device_->io().data() + slice->offset, sources[role], static_cast<size_t>(slice->end - slice->offset));
}

Status Session::start(EntryKind kind, Observer *observer) {
  assert(runsUnderWay() <= device_->runsAhead() && "runs must be finished first");
  BucketShape bucket = kind == EntryKind::Apply ? BucketShape() : bucket_;
  const Prepared *prepared = find(kind, bucket);
  if (!prepared)
    return error(StatusCode::InvalidUsage, "{}: no entry '{}'{}", program().source(), entryKindName(kind),
                 kind == EntryKind::Apply ? "" : " for bucket " + printBucket(bucket));
  fillArguments(*prepared->entry);
  QRT_RETURN_IF_ERROR(prepared->executable->start(observer));
  underWay_.push_back({prepared->entry, prepared->executable.get()});
  return Status();
}

StatusOr<RunResult> Session::finish() {
  assert(!underWay_.empty() && "no run is under way");
  auto [entry, executable] = underWay_.front();
  underWay_.erase(underWay_.begin());
  QRT_RETURN_IF_ERROR(executable->finish());
  return resultOf(*entry);
}

RunResult Session::resultOf(const Entry &entry) {
  std::span<const std::byte> results = device_->results();
  auto scalar = [&](ResultRole role) {
    float value = std::numeric_limits<float>::quiet_NaN();
    if (const Slice *slice = entry.result(role))
      std::memcpy(&value, results.data() + slice->offset, sizeof(value));
    return value;
  };
  RunResult result{scalar(ResultRole::Loss), scalar(ResultRole::GradNorm), {}};
  if (const Slice *slice = entry.result(ResultRole::RowLoss))
    result.rowLoss = {reinterpret_cast<const float *>(results.data() + slice->offset),
                      static_cast<size_t>(entry.bucket.trained)};
  return result;
}

StatusOr<RunResult> Session::run(EntryKind kind, Observer *observer) {
  QRT_RETURN_IF_ERROR(start(kind, observer));
  return finish();
}

StatusOr<const Session::Prepared *> Session::readyToRun(EntryKind kind) {
  const Prepared *prepared = find(kind, kind == EntryKind::Apply ? BucketShape() : bucket_);
  if (!prepared)
    return error(StatusCode::InvalidUsage, "{}: no entry '{}' for bucket {}", program().source(), entryKindName(kind),
                 printBucket(bucket_));
  fillArguments(*prepared->entry);
  return prepared;
}

StatusOr<ExecutionTimes> Session::time(EntryKind kind, double seconds) {
  QRT_ASSIGN_OR_RETURN(const Prepared *prepared, readyToRun(kind));
  return prepared->executable->time(seconds);
}

StatusOr<RunResult> Session::trace(EntryKind kind, ExecutionTrace &trace) {
  assert(underWay_.empty() && "another run is under way");
  QRT_ASSIGN_OR_RETURN(const Prepared *prepared, readyToRun(kind));
  QRT_ASSIGN_OR_RETURN(trace, prepared->executable->trace());
  return resultOf(*prepared->entry);
}

const Entry *Session::entryFor(EntryKind kind) const {
  const Prepared *prepared = find(kind, kind == EntryKind::Apply ? BucketShape() : bucket_);
  return prepared ? prepared->entry : nullptr;
}

Status Session::zeroGradients() {
  return device_->zero(Space::Gradients, 0, device_->reserved()[static_cast<int>(Space::Gradients)]);
}

StatusOr<OptimizerCounters> Session::readCounters() const {
  OptimizerCounters counters;
  const BufferRef &buffer = program().counters();
  QRT_RETURN_IF_ERROR(device_->read(buffer.space, buffer.offset, std::as_writable_bytes(std::span(&counters, 1))));
  return counters;
}

Status Session::writeCounters(const OptimizerCounters &counters) {
  const BufferRef &buffer = program().counters();
  return device_->write(buffer.space, buffer.offset, std::as_bytes(std::span(&counters, 1)));
}

/// Where elements from `first` on lie; `bytes` of them must belong to the parameter.
static int64_t placeOf(const Parameter &parameter, ParameterPart part, int64_t first, [[maybe_unused]] size_t bytes) {
  assert(parameter.part(part) && "the parameter has no such buffer");
  int64_t size = byteSize(parameter.part(part)->dtype);
  assert(first >= 0 && static_cast<int64_t>(bytes) % size == 0 &&
         first + static_cast<int64_t>(bytes) / size <= parameter.elements && "outside the parameter");
  return parameter.part(part)->offset + first * size;
}

Status Session::readParameter(const Parameter &parameter, ParameterPart part, int64_t first,
                              std::span<std::byte> bytes) const {
  return device_->read(parameter.part(part)->space, placeOf(parameter, part, first, bytes.size()), bytes);
}

Status Session::writeParameter(const Parameter &parameter, ParameterPart part, int64_t first,
                               std::span<const std::byte> bytes) {
  return device_->write(parameter.part(part)->space, placeOf(parameter, part, first, bytes.size()), bytes);
}

Status Session::zeroParameter(const Parameter &parameter, ParameterPart part) {
  int64_t bytes = parameter.elements * byteSize(parameter.part(part)->dtype);
  return device_->zero(parameter.part(part)->space, placeOf(parameter, part, 0, static_cast<size_t>(bytes)), bytes);
}

} // namespace qrt
