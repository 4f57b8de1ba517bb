// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/program/Program.h"

#include "runtime/schema/Digest.h"
#include "tests/unit/runtime/support/StatusMatchers.h"
#include "tests/unit/runtime/support/TempDirectory.h"
#include "tests/unit/runtime/support/TinyProgram.h"

#include <functional>
#include <gmock/gmock.h>
#include <random>

namespace qrt {
namespace {

using test::EntryBuilder;
using test::ProgramBuilder;
using test::TempDirectory;
using test::TinyModel;
using test::TinyProgram;

TEST(Program, HoldsWhatTheFileSays) {
  TinyProgram tiny;
  StatusOr<Program> program = tiny.build();
  ASSERT_OK(program);
  EXPECT_EQ(program->producer(), "program-builder");
  EXPECT_EQ(program->target(), "cpu");
  EXPECT_EQ(program->vocabulary(), 23);
  EXPECT_EQ(program->model().size(), 3u);
  ASSERT_EQ(program->parameters().size(), 7u);
  const Parameter *up = program->findParameter("layers.0.mlp.up_proj.weight");
  ASSERT_TRUE(up);
  EXPECT_EQ(up->shape, (std::vector<int64_t>{12, 8}));
  EXPECT_EQ(up->elements, 96);
  EXPECT_EQ(up->pack, 0);
  EXPECT_EQ(up->weight().offset, program->findParameter("layers.0.mlp.gate_proj.weight")->weight().offset + 96 * 4);
  EXPECT_EQ(up->checkpointNames[0], "model.language_model.layers.0.mlp.up_proj.weight");
  EXPECT_FALSE(program->findParameter("layers.0.mlp"));

  BucketShape bucket{16, 4, 16, 12};
  const Entry *step = program->findEntry(EntryKind::Step, bucket);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->name(), "step 16x4x16x12");
  EXPECT_EQ(step->instructions.size(), 28u);
  EXPECT_EQ(instructionName(step->instructions[2]), "gemm");
  EXPECT_EQ(step->instructions[3].scope, "layers.0.mlp");
  EXPECT_TRUE(step->argument(ArgumentRole::Seed));
  EXPECT_FALSE(step->result(ResultRole::RowLoss));
  EXPECT_FALSE(program->findEntry(EntryKind::Step, BucketShape::anyOf(16)));
  const Entry *apply = program->findEntry(EntryKind::Apply, {});
  ASSERT_TRUE(apply);
  EXPECT_EQ(apply->name(), "apply");
  EXPECT_EQ(program->spaceBytes(true)[static_cast<int>(Space::Gradients)], program->gradientBytes());
}

TEST(Program, DigestFindsEveryDamagedByte) {
  TinyProgram tiny;
  tiny.builder.program.sha256 = kNoDigest;
  std::vector<uint8_t> bytes = tiny.builder.bytes();
  std::string_view file(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  size_t place = file.find(kNoDigest);
  ASSERT_NE(place, std::string_view::npos);
  EXPECT_ERROR(Program::fromBytes(bytes, "p"), StatusCode::InvalidData, "p: damaged: its SHA-256 is ");
  StatusOr<std::string> digest = programDigest(bytes, file.substr(place, kNoDigest.size()));
  ASSERT_OK(digest);
  std::copy(digest->begin(), digest->end(), bytes.begin() + static_cast<ptrdiff_t>(place));
  ASSERT_OK(Program::fromBytes(bytes, "p"));
  for (size_t i = 0; i < bytes.size(); i += 7) {
    std::vector<uint8_t> damaged = bytes;
    damaged[i] ^= 1 << (i % 8);
    EXPECT_FALSE(Program::fromBytes(damaged, "p").ok()) << "byte " << i;
  }
}

TEST(Program, IsReadFromAFile) {
  TempDirectory directory;
  std::vector<uint8_t> bytes = TinyProgram({.dtype = DType::BF16}).builder.bytes();
  std::string path = directory / "tiny.qprog";
  ASSERT_OK(writeFileAtomically(path, {reinterpret_cast<const char *>(bytes.data()), bytes.size()}));
  StatusOr<Program> program = Program::open(path);
  ASSERT_OK(program);
  // Still there after a move: nothing points into the object.
  Program moved = std::move(*program);
  EXPECT_EQ(moved.entries()[0].instructions[0].scope, "embed_tokens");
  EXPECT_ERROR(Program::open(directory / "none.qprog"), StatusCode::Io, "none.qprog");
}

TEST(Program, RefusesWhatIsNoProgram) {
  auto load = [](std::vector<uint8_t> bytes) { return Program::fromBytes(std::move(bytes), "x.qprog"); };
  EXPECT_ERROR(load({}), StatusCode::InvalidData, "x.qprog: not a compiled program");
  EXPECT_ERROR(load(std::vector<uint8_t>(100)), StatusCode::InvalidData, "identifier 'QPRG'");
  std::vector<uint8_t> bytes = TinyProgram().builder.bytes();
  for (size_t size = 16; size < bytes.size(); size += 97)
    EXPECT_ERROR(load({bytes.begin(), bytes.begin() + static_cast<int64_t>(size)}), StatusCode::InvalidData, "damaged");
}

TEST(Program, NamesBothVersions) {
  TinyProgram tiny;
  tiny.builder.program.version_major = 7;
  tiny.builder.program.version_minor = 3;
  EXPECT_ERROR(tiny.build(), StatusCode::Unsupported,
               fmt::format("tiny.qprog: a program of version 7.3; this runtime reads version {}.{}",
                           kProgramVersion.major, kProgramVersion.minor));
  tiny.builder.program.version_major = kProgramVersion.major;
  tiny.builder.program.version_minor = kProgramVersion.minor + 1;
  EXPECT_ERROR(tiny.build(), StatusCode::Unsupported,
               fmt::format("version {0}.{1}; this runtime reads version {0}.{2}", kProgramVersion.major,
                           kProgramVersion.minor + 1, kProgramVersion.minor));
}

TEST(Program, NamesAnUnknownKernel) {
  TinyProgram tiny;
  tiny.builder.program.kernels.push_back("warp_drive");
  EXPECT_ERROR(tiny.build(), StatusCode::Unsupported, "tiny.qprog: it needs a kernel 'warp_drive'");
}

/// A program of the version before expressions came, which says so and has none, is read as ever.
TEST(Program, OfTheMinorVersionsBefore) {
  for (uint32_t minor = 0; minor < kProgramVersion.minor; ++minor) {
    TinyProgram tiny;
    tiny.builder.program.version_minor = minor;
    StatusOr<Program> program = tiny.build();
    ASSERT_OK(program);
    for (const Instruction &instruction : program->entries()[0].instructions)
      if (const Launch *launch = std::get_if<Launch>(&instruction.work))
        EXPECT_EQ(launch->expressionOrNull(), nullptr);
  }
}

/// Beside what a call must be (expression-test): sizes before anything is copied, and that no other kernel has one.
TEST(Program, ExpressionsAreProven) {
  auto message = [](const std::function<void(fb::ExpressionT &)> &change, bool pointwise = true) {
    test::ProgramBuilder builder{10};
    test::EntryBuilder e = builder.entry(EntryKind::Eval, {4, 1, 4, 4});
    for (ArgumentRole role : {ArgumentRole::Ids, ArgumentRole::Labels, ArgumentRole::Segments})
      e.argument(role);
    e.result(ResultRole::Loss);
    int x = e.transient(DType::F32, {4, 8}), y = e.transient(DType::BF16, {4, 8});
    if (pointwise)
      e.launch(Kernel::Pointwise, {y, -1, -1, -1, x});
    else
      e.launch(Kernel::Swiglu, {x, x, e.transient(DType::F32, {4, 8})});
    fb::LaunchT &launch = *e.entry().instructions.back()->work.AsLaunch();
    launch.expression = std::make_unique<fb::ExpressionT>();
    launch.expression->steps.push_back(std::make_unique<fb::ExpressionStepT>());
    launch.expression->steps.back()->op = fb::ExpressionOp_Silu;
    launch.expression->results = {1};
    change(*launch.expression);
    return builder.build().status().message();
  };
  EXPECT_EQ(message([](fb::ExpressionT &) {}), "");
  EXPECT_THAT(message([](fb::ExpressionT &it) { it.steps[0]->a = 1; }),
              testing::HasSubstr("silu: expected operands of the 1 values before it, got 1"));
  EXPECT_THAT(message([](fb::ExpressionT &it) { it.steps[0]->op = static_cast<fb::ExpressionOp>(200); }),
              testing::HasSubstr("value 1: unknown operation 200"));
  EXPECT_THAT(message([](fb::ExpressionT &it) { it.results = {9}; }),
              testing::HasSubstr("expected results of its 2 values, got 9"));
  EXPECT_THAT(message([](fb::ExpressionT &it) { it.results.assign(100000, 0); }),
              testing::HasSubstr("expected an expression of at most 64 steps and 4 results, got 1 and 100000"));
  EXPECT_THAT(message([](fb::ExpressionT &) {}, /*pointwise=*/false),
              testing::HasSubstr("only calls of pointwise have an expression"));
}

/// One thing wrong in a program that is right otherwise, and what the message must say.
struct Fault {
  std::string message;
  std::function<void(TinyProgram &)> make;
};

void expectFaults(const std::vector<Fault> &faults) {
  for (const Fault &fault : faults) {
    TinyProgram tiny;
    fault.make(tiny);
    EXPECT_ERROR(tiny.build(), StatusCode::InvalidData, fault.message);
    EXPECT_ERROR(tiny.build(), StatusCode::InvalidData, "tiny.qprog: ");
  }
}

fb::ParameterT &parameter(TinyProgram &tiny, size_t index) { return *tiny.builder.program.parameters[index]; }

TEST(Program, ParametersAreChecked) {
  expectFaults({
      {"vocabulary: expected 1", [](TinyProgram &t) { t.builder.program.vocabulary = 0; }},
      {"state_bytes: expected at most", [](TinyProgram &t) { t.builder.program.state_bytes = UINT64_MAX; }},
      {"dimension -1", [](TinyProgram &t) { parameter(t, 0).shape[0] = -1; }},
      {"makes it too large", [](TinyProgram &t) { parameter(t, 0).shape = {INT64_MAX / 2, 4}; }},
      {"at most 4 dimensions, got 5", [](TinyProgram &t) { parameter(t, 0).shape = {1, 1, 1, 1, 1}; }},
      {"1 to 8 checkpoint names", [](TinyProgram &t) { parameter(t, 0).checkpoint_names.clear(); }},
      {"checkpoint name 'lm_head.weight' is there twice",
       [](TinyProgram &t) { parameter(t, 0).checkpoint_names = {"lm_head.weight"}; }},
      {"checkpoint name 'lm_head.weight' is there twice",
       [](TinyProgram &t) { parameter(t, 0).tied_names = {"lm_head.weight"}; }},
      {"other_tensors: expected beginnings of names, got ''",
       [](TinyProgram &t) { t.builder.program.other_tensors = {"mtp.", ""}; }},
      {"parameter 'lm_head.weight' is there twice", [](TinyProgram &t) { parameter(t, 0).name = "lm_head.weight"; }},
      {"unknown initial value", [](TinyProgram &t) { parameter(t, 0).init = static_cast<fb::InitKind>(9); }},
      {"no initial values from", [](TinyProgram &t) { parameter(t, 0).init_b = -1; }},
      {"pack 5 is not one of 1", [](TinyProgram &t) { parameter(t, 0).pack = 5; }},
      {"is not in the pack that it names", [](TinyProgram &t) { parameter(t, 0).pack = 0; }},
      {"weight: unknown element type 77",
       [](TinyProgram &t) { parameter(t, 0).weight->dtype = static_cast<fb::DType>(77); }},
      {"weight: expected f32 or bf16, got i32", [](TinyProgram &t) { parameter(t, 0).weight->dtype = fb::DType_I32; }},
      {"weight: expected a buffer of state, got one of gradients",
       [](TinyProgram &t) { parameter(t, 0).weight->space = fb::Space_Gradients; }},
      {"expected a buffer of state or gradients", [](TinyProgram &t) { parameter(t, 0).weight->space = fb::Space_Io; }},
      {"lies outside every space", [](TinyProgram &t) { parameter(t, 0).weight->offset = UINT64_MAX - 8; }},
      {"lie outside the", [](TinyProgram &t) { parameter(t, 0).weight->offset = t.builder.program.state_bytes - 8; }},
      {"lie outside the", [](TinyProgram &t) { parameter(t, 0).exp_avg->offset = uint64_t{1} << 59; }},
      {"is not a multiple of 4",
       [](TinyProgram &t) {
         parameter(t, 0).master = std::make_unique<fb::BufferT>(*parameter(t, 0).exp_avg),
                      parameter(t, 0).master->offset += 2;
       }},
      {"a frozen parameter has only its weight", [](TinyProgram &t) { parameter(t, 0).frozen = true; }},
      {"expected both moments", [](TinyProgram &t) { parameter(t, 0).exp_avg = nullptr; }},
      {"a master belongs to a bf16 weight",
       [](TinyProgram &t) { parameter(t, 0).master = std::make_unique<fb::BufferT>(*parameter(t, 0).exp_avg); }},
      {"overlaps", [](TinyProgram &t) { parameter(t, 0).exp_avg->offset = parameter(t, 0).weight->offset + 4; }},
      {"overlaps", [](TinyProgram &t) { parameter(t, 4).weight->offset = parameter(t, 3).weight->offset; }},
      {"counters: expected i64[2]", [](TinyProgram &t) { t.builder.program.counters->dtype = fb::DType_I32; }},
      {"counters: expected i64[2]",
       [](TinyProgram &t) { t.builder.program.counters->offset = t.builder.program.state_bytes - 8; }},
      {"overlaps counters",
       [](TinyProgram &t) { t.builder.program.counters->offset = parameter(t, 0).weight->offset; }},
  });
}

TEST(Program, PacksAreChecked) {
  auto pack = [](TinyProgram &t) -> fb::ParameterPackT & { return *t.builder.program.packs[0]; };
  expectFaults({
      {"it has no member", [&](TinyProgram &t) { pack(t).members.clear(); }},
      {"member 99 is not one of 7", [&](TinyProgram &t) { pack(t).members[0] = 99; }},
      {"more members than there are parameters", [&](TinyProgram &t) { pack(t).members.assign(1000, 1); }},
      {"is expected at", [&](TinyProgram &t) { std::swap(pack(t).members[0], pack(t).members[1]); }},
      {"is expected at", [](TinyProgram &t) { parameter(t, 2).exp_avg->offset += 4; }},
      {"which does not stack on [12, 8]", [](TinyProgram &t) { parameter(t, 2).shape = {8, 12}; }},
      {"is trained otherwise than", [](TinyProgram &t) { parameter(t, 2).decay = false; }},
      {"has another kind of gradient", [](TinyProgram &t) { parameter(t, 2).gradient = nullptr; }},
      {"says that it belongs to pack -1", [](TinyProgram &t) { parameter(t, 2).pack = -1; }},
      {"is not in the pack that it names", [&](TinyProgram &t) { pack(t).members.pop_back(); }},
      {"is twice in a pack", [&](TinyProgram &t) { pack(t).members[1] = pack(t).members[0]; }},
      {"pack 'lm_head.weight' is there twice", [&](TinyProgram &t) { pack(t).name = "lm_head.weight"; }},
  });
}

fb::EntryT &step(TinyProgram &tiny) { return tiny.entry(EntryKind::Step); }
fb::SliceT &slice(TinyProgram &tiny, size_t index) { return *step(tiny).slices[index]; }
fb::LaunchT &launch(TinyProgram &tiny, size_t instruction) {
  return *step(tiny).instructions[instruction]->work.AsLaunch();
}
fb::GemmT &gemm(TinyProgram &tiny, size_t instruction) { return *step(tiny).instructions[instruction]->work.AsGemm(); }
/// The slice of argument `arg` of a launch.
fb::SliceT &sliceOf(TinyProgram &tiny, size_t instruction, size_t arg) {
  return slice(tiny, static_cast<size_t>(launch(tiny, instruction).args[arg].slice()));
}

void setSlice(TinyProgram &tiny, size_t instruction, size_t arg, int slice) {
  fb::Arg &it = launch(tiny, instruction).args[arg];
  it = fb::Arg(slice, it.effect());
}
void setEffect(TinyProgram &tiny, size_t instruction, size_t arg, fb::Effect effect) {
  fb::Arg &it = launch(tiny, instruction).args[arg];
  it = fb::Arg(it.slice(), effect);
}
void setBucket(TinyProgram &tiny, int64_t tokens, int64_t documents) {
  step(tiny).bucket = std::make_unique<fb::Bucket>(tokens, documents, 16, 12);
}

TEST(Program, SlicesAreChecked) {
  // Slice 3 is the residual stream, f32[16, 8] at 0 of transient.
  expectFaults({
      {"entry step 16x4x16x12: slice 3: unknown space 9",
       [](TinyProgram &t) { slice(t, 3).space = static_cast<fb::Space>(9); }},
      {"unknown element type", [](TinyProgram &t) { slice(t, 3).dtype = static_cast<fb::DType>(14); }},
      {"at most 4 dimensions and as many strides, got 5 and 5",
       [](TinyProgram &t) { slice(t, 3).shape = {1, 1, 1, 1, 1}, slice(t, 3).strides = {1, 1, 1, 1, 1}; }},
      {"got 2 and 1", [](TinyProgram &t) { slice(t, 3).strides = {1}; }},
      {"positive dimensions", [](TinyProgram &t) { slice(t, 3).shape[0] = 0; }},
      {"positive dimensions", [](TinyProgram &t) { slice(t, 3).shape[0] = INT64_MIN; }},
      {"no negative stride", [](TinyProgram &t) { slice(t, 3).strides[0] = -8; }},
      {"the last stride to be 1, got 2", [](TinyProgram &t) { slice(t, 3).strides = {16, 2}; }},
      {"lies outside the", [](TinyProgram &t) { slice(t, 3).offset = UINT64_MAX - 3; }},
      {"lies outside the", [](TinyProgram &t) { slice(t, 3).offset = step(t).transient_bytes - 4; }},
      {"lies outside the", [](TinyProgram &t) { slice(t, 3).strides[0] = INT64_MAX; }},
      {"lies outside the", [](TinyProgram &t) { slice(t, 3).shape = {INT64_MAX, INT64_MAX}; }},
      {"lies outside the", [](TinyProgram &t) { slice(t, 3).shape[1] = INT64_MAX; }},
      {"lies outside the", [](TinyProgram &t) { step(t).transient_bytes = 0; }},
      {"io_bytes: expected at most", [](TinyProgram &t) { step(t).io_bytes = uint64_t{1} << 63; }},
      {"is not a multiple of the 4 bytes of f32", [](TinyProgram &t) { slice(t, 3).offset += 2; }},
      {"has the same element twice", [](TinyProgram &t) { slice(t, 3).strides[0] = 0; }},
      {"has the same element twice", [](TinyProgram &t) { slice(t, 3).strides[0] = 7; }},
      {"is not part of one buffer of the parameter table", [](TinyProgram &t) { sliceOf(t, 0, 2).offset += 4; }},
      {"weight of parameter 'embed_tokens.weight', which is f32",
       [](TinyProgram &t) { sliceOf(t, 0, 2).dtype = fb::DType_I32; }},
      {"only gradients that are accumulated", [](TinyProgram &t) { slice(t, 3).space = fb::Space_Gradients; }},
  });
}

TEST(Program, InstructionsAreChecked) {
  auto optimizerStep = [](TinyProgram &t) {
    return std::find_if(step(t).instructions.begin(), step(t).instructions.end(),
                        [kernel = t.builder.kernel(Kernel::OptimizerStep)](const auto &instruction) {
                          const fb::LaunchT *launch = instruction->work.AsLaunch();
                          return launch && launch->kernel == kernel;
                        });
  };
  const std::string notUpdated = "argument 'counters': expected a call before that updates slice ";
  expectFaults({
      {"scope 99 is not one of", [](TinyProgram &t) { step(t).instructions[0]->scope = 99; }},
      {"instruction 0 (NONE, 'embed_tokens'): there is nothing to do",
       [](TinyProgram &t) { step(t).instructions[0]->work.Reset(); }},
      {"kernel 99 is not one of", [](TinyProgram &t) { launch(t, 0).kernel = 99; }},
      {"unknown effect 3", [](TinyProgram &t) { setEffect(t, 0, 0, static_cast<fb::Effect>(3)); }},
      {"slice 9999 is not one of", [](TinyProgram &t) { setSlice(t, 0, 0, 9999); }},
      {"slice -2 is not one of", [](TinyProgram &t) { setSlice(t, 0, 0, -2); }},
      {"slice -1 is not one of", [](TinyProgram &t) { gemm(t, 2).a = -1; }},
      {"entry step 16x4x16x12: instruction 0 (embedding, 'embed_tokens'): expected 4 arguments, got 3",
       [](TinyProgram &t) { launch(t, 0).args.pop_back(); }},
      {"argument 'ids' is missing", [](TinyProgram &t) { setSlice(t, 0, 1, -1); }},
      {"argument 'ids': expected read, got write", [](TinyProgram &t) { setEffect(t, 0, 1, fb::Effect_Write); }},
      {"argument 'out': expected write, got inout", [](TinyProgram &t) { setEffect(t, 0, 3, fb::Effect_InOut); }},
      {"expected 1 parameters, got 0", [](TinyProgram &t) { launch(t, 1).params.clear(); }},
      {"parameter 'eps': expected a positive number",
       [](TinyProgram &t) { launch(t, 1).params[0] = std::bit_cast<int64_t>(-1.0); }},
      {"argument 'out': expected md[T,h] with T = 16, V = 23, h = 8, md = f32, got f32[8, 16]",
       [](TinyProgram &t) { slice(t, 3).shape = {8, 16}, slice(t, 3).strides = {16, 1}; }},
      {"argument 'out': expected md[T,h]", [](TinyProgram &t) { slice(t, 3).dtype = fb::DType_BF16; }},
      {"expected the segment table of bucket 16x4x16x12",
       [](TinyProgram &t) { setSlice(t, 0, 0, launch(t, 0).args[1].slice()); }},
      {"expected [m, k] x [k, n] to [m, n] after the transpositions, got f32[16, 8] x f32[24, 8] to f32[16, 24]",
       [](TinyProgram &t) { gemm(t, 2).transpose_b = false; }},
      {"expected three matrices", [](TinyProgram &t) { gemm(t, 2).a = launch(t, 0).args[1].slice(); }},
      {"expected f32 or bf16, the same for both factors, got bf16[16, 8] x f32[24, 8]'",
       [](TinyProgram &t) {
         slice(t, static_cast<size_t>(gemm(t, 2).a)).dtype = fb::DType_BF16, setSlice(t, 1, 2, 0),
                                              step(t).instructions.erase(step(t).instructions.begin() + 1);
       }},
      {"expected c in f32 or the type of its factors, got f32[16, 8] x f32[24, 8]' to bf16[16, 24]",
       [](TinyProgram &t) { slice(t, static_cast<size_t>(gemm(t, 2).c)).dtype = fb::DType_BF16; }},
      {"'y' is written and overlaps 'x'", [](TinyProgram &t) { setSlice(t, 1, 2, launch(t, 1).args[0].slice()); }},
      {"'dgate' is written and overlaps 'dup'", [](TinyProgram &t) { sliceOf(t, 13, 4).offset -= 4; }},
      {"'c' is written and overlaps 'a'",
       [](TinyProgram &t) {
         slice(t, static_cast<size_t>(gemm(t, 2).c)).offset = slice(t, static_cast<size_t>(gemm(t, 2).a)).offset;
       }},
      {notUpdated, [&](TinyProgram &t) { step(t).instructions.erase(optimizerStep(t)); }},
      // One of other counters, one behind the update, and one whose counters are overwritten.
      {notUpdated,
       [&](TinyProgram &t) {
         auto elsewhere = std::make_unique<fb::SliceT>(sliceOf(t, 22, 2));
         elsewhere->space = fb::Space_Transient, elsewhere->offset = 0;
         step(t).slices.push_back(std::move(elsewhere));
         (*optimizerStep(t))->work.AsLaunch()->args[1] =
             fb::Arg(static_cast<int32_t>(step(t).slices.size() - 1), fb::Effect_InOut);
       }},
      {notUpdated, [&](TinyProgram &t) { std::iter_swap(optimizerStep(t), step(t).instructions.begin() + 22); }},
      {notUpdated,
       [&](TinyProgram &t) {
         auto zero = std::make_unique<fb::InstructionT>();
         zero->work.Set(fb::FillT{{}, launch(t, 22).args[2].slice()});
         step(t).instructions.insert(optimizerStep(t) + 1, std::move(zero));
       }},
      {"expected two tensors of one type", [](TinyProgram &t) { step(t).instructions[20]->work.AsCopy()->source = 3; }},
      {"writes slice 0 of io, which is no result",
       [](TinyProgram &t) { step(t).instructions[20]->work.Set(fb::FillT{{}, 0}); }},
      {"argument 'ids': slice 1 is not the entry's argument 'ids'", [](TinyProgram &t) { setSlice(t, 0, 1, 1); }},
      {"argument 'docs': expected the segment table", [](TinyProgram &t) { setSlice(t, 6, 0, 0); }},
      {"argument 'order': slice 0 is not the entry's argument 'embedding_order'",
       [](TinyProgram &t) { setSlice(t, 17, 2, 0); }},
      {"argument 'x': slice 0 does not hold labels", [](TinyProgram &t) { setSlice(t, 7, 1, 0); }},
      {"instruction 7 (linear_cross_entropy_grad, 'lm_head'): argument 'labels': slice",
       [](TinyProgram &t) { step(t).instructions.erase(step(t).instructions.begin() + 7); }},
      {"instruction 8 (linear_cross_entropy_grad, 'lm_head'): argument 'labels': slice",
       [](TinyProgram &t) {
         sliceOf(t, 6, 2).offset = sliceOf(t, 7, 2).offset, std::swap(step(t).instructions[6], step(t).instructions[7]);
       }},
      {"argument 'weight': expected a row for each of the 24 tokens of the vocabulary, got f32[23, 8]",
       [](TinyProgram &t) { t.builder.program.vocabulary = 24; }},
      {"parameter 'decay': expected 0 or 1", [](TinyProgram &t) { launch(t, 22).params[0] = 2; }},
      {"parameters 'members': expected", [](TinyProgram &t) { launch(t, 22).params.back() -= 1; }},
      {"parameters 'members': expected", [](TinyProgram &t) { launch(t, 22).params.pop_back(); }},
      {"parameters 'members': expected", [](TinyProgram &t) { launch(t, 22).params.back() = -1; }},
  });
}

// Tables may share parts in a flatbuffer: a small file could name a gigabyte.
TEST(Program, SharedPartsDoNotMultiply) {
  flatbuffers::FlatBufferBuilder builder;
  auto params = builder.CreateVector(std::vector<int64_t>(1000));
  auto launch = fb::CreateLaunch(builder, 0, 0, params);
  std::vector<flatbuffers::Offset<fb::Instruction>> instructions(
      1000, fb::CreateInstruction(builder, fb::Work_Launch, launch.Union(), 0));
  fb::Bucket bucket(1, 1, 1, 1);
  auto entry = fb::CreateEntry(
      builder, fb::EntryKind_Step, &bucket, builder.CreateVector(std::vector<flatbuffers::Offset<fb::Slice>>()),
      builder.CreateVector(instructions), builder.CreateVector(std::vector<flatbuffers::Offset<fb::Argument>>()),
      builder.CreateVector(std::vector<flatbuffers::Offset<fb::Result>>()));
  std::vector<flatbuffers::Offset<flatbuffers::String>> none, scopes{builder.CreateString("")},
      kernels{builder.CreateString("swiglu")};
  auto empty = builder.CreateString("");
  auto counters = fb::CreateBuffer(builder, fb::Space_State, 0, fb::DType_I64);
  builder.Finish(fb::CreateProgram(builder, kProgramVersion.major, kProgramVersion.minor, empty, empty,
                                   builder.CreateVector(none), builder.CreateVector(std::vector<uint8_t>()), empty,
                                   builder.CreateVector(scopes), builder.CreateVector(kernels),
                                   builder.CreateVector(std::vector<flatbuffers::Offset<fb::Parameter>>()),
                                   builder.CreateVector(std::vector<flatbuffers::Offset<fb::ParameterPack>>()),
                                   counters, 1, 16, 0,
                                   builder.CreateVector(std::vector<flatbuffers::Offset<fb::Entry>>{entry})),
                 fb::ProgramIdentifier());
  EXPECT_ERROR(
      Program::fromBytes({builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()}, "x.qprog"),
      StatusCode::InvalidData, "the file is too small for its arguments and parameters");
}

TEST(Program, RolesAreChecked) {
  auto remove = [](std::vector<std::unique_ptr<fb::ArgumentT>> &arguments, ArgumentRole role) {
    std::erase_if(arguments, [&](auto &argument) { return argument->role == static_cast<fb::ArgumentRole>(role); });
  };
  expectFaults({
      {"entry step 16x4x16x12: argument 'ids' is missing",
       [&](TinyProgram &t) { remove(step(t).arguments, ArgumentRole::Ids); }},
      {"argument 'inverse_tokens' is missing",
       [&](TinyProgram &t) { remove(step(t).arguments, ArgumentRole::InverseTokens); }},
      {"entry apply: argument 'hyper' is missing",
       [&](TinyProgram &t) { remove(t.entry(EntryKind::Apply).arguments, ArgumentRole::Hyper); }},
      {"argument 'hyper' does not belong to this kind of entry",
       [&](TinyProgram &t) {
         step(t).kind = fb::EntryKind_Accumulate,
         t.builder.program.entries.erase(t.builder.program.entries.begin() + 1);
       }},
      {"result 'loss' is missing", [](TinyProgram &t) { step(t).results.erase(step(t).results.begin()); }},
      {"result 'row_loss' does not belong", [](TinyProgram &t) { step(t).results[1]->role = fb::ResultRole_RowLoss; }},
      {"unknown argument role 7",
       [](TinyProgram &t) { step(t).arguments[0]->role = static_cast<fb::ArgumentRole>(7); }},
      {"argument 'ids': there twice", [](TinyProgram &t) { step(t).arguments[1]->role = fb::ArgumentRole_Ids; }},
      {"argument 'ids': slice 999 is not one of", [](TinyProgram &t) { step(t).arguments[0]->slice = 999; }},
      {"argument 'ids': expected i32[16], got f32[16, 8]", [](TinyProgram &t) { step(t).arguments[0]->slice = 3; }},
      {"argument 'ids': expected it in io, got transient",
       [](TinyProgram &t) { slice(t, 0).space = fb::Space_Transient; }},
      {"arguments and results overlap: slices 0 and 1",
       [](TinyProgram &t) { slice(t, 1).offset = slice(t, 0).offset; }},
      {"unknown kind 9", [](TinyProgram &t) { step(t).kind = static_cast<fb::EntryKind>(9); }},
      {"the bucket makes no sense", [](TinyProgram &t) { setBucket(t, 16, 17); }},
      {"the bucket makes no sense", [](TinyProgram &t) { setBucket(t, int64_t{1} << 40, 4); }},
      {"the bucket makes no sense", [](TinyProgram &t) { step(t).bucket = nullptr; }},
      {"the bucket makes no sense",
       [](TinyProgram &t) { t.entry(EntryKind::Apply).bucket = std::make_unique<fb::Bucket>(*step(t).bucket); }},
      {"no entry applies them", [](TinyProgram &t) { t.builder.program.entries.pop_back(); }},
      {"at least one entry", [](TinyProgram &t) { t.builder.program.entries.clear(); }},
  });
}

/// A product of bf16 matrices is bf16 or f32; what it is added to is f32.
TEST(Program, ProductsAreAddedToF32) {
  auto message = [](DType type, bool accumulate) {
    test::ProgramBuilder builder{10};
    test::EntryBuilder e = builder.entry(EntryKind::Eval, {4, 1, 4, 4});
    for (ArgumentRole role : {ArgumentRole::Ids, ArgumentRole::Labels, ArgumentRole::Segments})
      e.argument(role);
    e.result(ResultRole::Loss);
    e.gemm(e.transient(DType::BF16, {4, 8}), e.transient(DType::BF16, {8, 2}), e.transient(type, {4, 2}),
           /*transposeA=*/false, /*transposeB=*/false, accumulate);
    return builder.build().status().message();
  };
  EXPECT_EQ(message(DType::F32, false), "");
  EXPECT_EQ(message(DType::F32, true), "");
  EXPECT_EQ(message(DType::BF16, false), "");
  EXPECT_THAT(message(DType::BF16, true),
              testing::HasSubstr("expected to add to f32, got bf16[4, 8] x bf16[8, 2] to bf16[4, 2]"));
}

TEST(Program, ABucketIsThereOnce) {
  EXPECT_ERROR(TinyProgram({}, {BucketShape::anyOf(8), BucketShape::anyOf(8)}).build(), StatusCode::InvalidData,
               "entry step 8: there twice");
}

TEST(Program, OnlyTheOptimizerWritesTheState) {
  expectFaults({
      {"writes the weight of parameter 'norm.weight', which is frozen",
       [](TinyProgram &t) {
         fb::ParameterT &norm = parameter(t, 6);
         norm.frozen = true;
         norm.gradient = nullptr, norm.exp_avg = nullptr, norm.exp_avg_sq = nullptr;
         // Its update wrote the moments, too: leave a fill of the weight in its place.
         fb::EntryT &entry = step(t);
         entry.instructions.back()->work.Set(fb::FillT{{}, launch(t, 1).args[1].slice()});
         entry.slices[static_cast<size_t>(launch(t, 1).args[1].slice())]->offset = norm.weight->offset;
         entry.instructions.erase(entry.instructions.begin() + 20, entry.instructions.end() - 1);
         std::erase_if(t.builder.program.entries, [](auto &e) { return e->kind != fb::EntryKind_Step; });
         for (auto &slice : entry.slices)
           if (slice->space == fb::Space_State && slice->shape == std::vector<int64_t>{8})
             slice->offset = norm.weight->offset;
       }},
      {"in an entry that must not",
       [](TinyProgram &t) {
         fb::EntryT &eval = t.entry(EntryKind::Eval);
         eval.instructions.push_back(std::make_unique<fb::InstructionT>());
         eval.instructions.back()->work.Set(fb::FillT{{}, eval.instructions[0]->work.AsLaunch()->args[2].slice()});
       }},
  });
}

TEST(Program, DebugValuesAreChecked) {
  auto gradient = [](TinyProgram &t) -> fb::DebugValueT & { return *step(t).debug[2]; };
  expectFaults({
      {"debug value 'lm_head.weight': instruction 999 is not one of",
       [&](TinyProgram &t) { gradient(t).instruction = 999; }},
      {"slice 999 is not one of", [&](TinyProgram &t) { gradient(t).slice = 999; }},
      {"expected a gradient to have the name and the shape", [&](TinyProgram &t) { gradient(t).name = "nothing"; }},
      {"expected a gradient to have the name and the shape", [&](TinyProgram &t) { gradient(t).slice = 3; }},
      {"expected f32 or bf16, got i32[16]", [&](TinyProgram &t) { gradient(t).slice = 0; }},
      {"'lm_head.weight': there twice", [&](TinyProgram &t) { step(t).debug[3]->name = "lm_head.weight"; }},
  });
}

TEST(Program, ProgramsOfOneStateAreTold) {
  Program one = *TinyProgram().build("one.qprog");
  EXPECT_OK(checkSameState(one, *TinyProgram({}, {BucketShape::anyOf(64)}).build("two.qprog")));
  EXPECT_ERROR(checkSameState(one, *TinyProgram({.hidden = 16}).build("two.qprog")), StatusCode::InvalidData,
               "two.qprog: parameter 0 ('embed_tokens.weight') differs from that of one.qprog");
  EXPECT_ERROR(checkSameState(one, *TinyProgram({.dtype = DType::BF16}).build("two.qprog")), StatusCode::InvalidData,
               "parameter 0");
  EXPECT_ERROR(checkSameState(one, *TinyProgram({.vocabulary = 24}).build("two.qprog")), StatusCode::InvalidData,
               "the vocabulary");
  TinyProgram other;
  other.builder.program.state_bytes += 64;
  EXPECT_ERROR(checkSameState(one, *other.build("two.qprog")), StatusCode::InvalidData, "the size of the state");
}

// Whatever bytes change, a program is either refused or one whose every slice lies in its space.
TEST(Program, DamagedFilesNeverCrash) {
  std::vector<uint8_t> good = TinyProgram().builder.bytes();
  std::mt19937_64 random(7);
  int accepted = 0, structural = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::vector<uint8_t> bytes = good;
    for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      size_t at = random() % bytes.size();
      constexpr uint64_t kValues[] = {
          0, 1, 0xFF, 0x7F, 0x80, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFF0};
      uint64_t value = random() % 2 ? random() : kValues[random() % std::size(kValues)];
      size_t width = size_t{1} << random() % 4;
      at -= at % width;
      std::memcpy(bytes.data() + at, &value, std::min(width, bytes.size() - at));
    }
    StatusOr<Program> program = Program::fromBytes(std::move(bytes), "mutated.qprog");
    if (!program.ok()) {
      structural += program.status().message().find("damaged") != std::string::npos;
      continue;
    }
    ++accepted;
    SpaceBytes bytesOfSpaces = program->spaceBytes(true);
    for (const Entry &entry : program->entries())
      for (const Slice &slice : entry.slices) {
        ASSERT_GE(slice.offset, 0);
        ASSERT_GT(slice.end, slice.offset);
        ASSERT_LE(slice.end, bytesOfSpaces[static_cast<int>(slice.space)]);
      }
  }
  // Most changes hit something that matters, and both lines of defence.
  EXPECT_GT(accepted, 100);
  EXPECT_GT(structural, 1000);
  EXPECT_LT(accepted + structural, 19000);
}

} // namespace
} // namespace qrt
