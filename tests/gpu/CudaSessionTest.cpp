// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole small program on the GPU: its launches, its runs ahead, its memory, and what its errors say.
#include "runtime/backends/cuda/CompileDeviceCode.h"
#include "runtime/backends/cuda/CudaDevice.h"
#include "runtime/base/CacheFolder.h"
#include "runtime/program/Memory.h"
#include "tests/gpu/DeviceHarness.h"
#include "tests/unit/runtime/support/NotFiniteSteps.h"
#include "tests/unit/runtime/support/TempDirectory.h"

#include <cstdlib>

namespace qrt::cuda::test {
namespace {

using namespace qrt::test;

constexpr BucketShape kLarge{40, 9, 30, 30};

/// The works of an instruction, at addresses that mean nothing.
Status planInstruction(const Entry &entry, const Instruction &instruction, KernelPlan &plan) {
  constexpr DevicePtr kBase = DevicePtr{1} << 40;
  auto tensorOf = [&](int32_t index) {
    if (index < 0)
      return Tensor();
    const Slice &slice = entry.slices[static_cast<size_t>(index)];
    return Tensor{slice.shape,
                  kBase * (static_cast<DevicePtr>(slice.space) + 1) + static_cast<DevicePtr>(slice.offset)};
  };
  if (const Copy *copy = std::get_if<Copy>(&instruction.work))
    return planCopy(tensorOf(copy->source), tensorOf(copy->target), plan);
  if (const Fill *fill = std::get_if<Fill>(&instruction.work))
    return planZero(tensorOf(fill->target), plan);
  const Launch *launch = std::get_if<Launch>(&instruction.work);
  if (!launch)
    return Status();
  std::vector<Tensor> args;
  for (int32_t index : launch->slices)
    args.push_back(tensorOf(index));
  return planKernel({launch->kernel, args, launch->effects, launch->params, entry.bucket, {}}, plan);
}

/// Takes as many bytes of parameters as the function in whose place it is.
constexpr const char *kStop = "template <int n> struct Bytes { char of[n]; };\n"
                              "template <int n> __global__ void stop(Bytes<n>) { __trap(); }";

/// TinyProgram as the compiler would make it for the GPU: with the workspace of its calls and their machine code.
/// `broken`: functions whose name begins so stop the GPU with an error instead; empty: none.
StatusOr<Program> buildTiny(DType dtype, const std::string &broken = "") {
  TinyProgram tiny({.vocabulary = 64, .hidden = 32, .intermediate = 48, .dtype = dtype}, {kTinyBucket, kLarge});
  tiny.builder.program.target = "sm_90a";
  QRT_ASSIGN_OR_RETURN(Program planned, tiny.build());
  CubinCache cubins(cacheFolder());
  std::map<std::string, Cubin> functions;
  DeviceLaunch fill = kernelFill(0, kKernelFillUnit);
  QRT_ASSIGN_OR_RETURN(functions[fill.function], compileDeviceCode(cubins, fill.source, fill.function, "sm_90a"));
  for (size_t e = 0; e < planned.entries().size(); ++e) {
    const Entry &entry = planned.entries()[e];
    fb::EntryT &target = *tiny.builder.program.entries[e];
    for (size_t i = 0; i < entry.instructions.size(); ++i) {
      KernelPlan plan(DevicePtr{1} << 50);
      QRT_RETURN_IF_ERROR(planInstruction(entry, entry.instructions[i], plan));
      for (const DeviceWork &work : plan.works()) {
        const DeviceLaunch *launch = std::get_if<DeviceLaunch>(&work);
        if (!launch || functions.contains(launch->function))
          continue;
        bool stops = !broken.empty() && launch->function.starts_with(broken);
        QRT_ASSIGN_OR_RETURN(functions[launch->function],
                             stops ? cubins.compile({}, kStop, fmt::format("stop<{}>", launch->params.size()), "sm_90a")
                                   : compileDeviceCode(cubins, launch->source, launch->function, "sm_90a"));
      }
      if (!std::holds_alternative<Launch>(entry.instructions[i].work))
        continue;
      int32_t &workspace = target.instructions[i]->work.AsLaunch()->workspace;
      workspace = -1;
      if (plan.workspaceBytes() > 0) {
        target.transient_bytes = (target.transient_bytes + 255) / 256 * 256;
        workspace = EntryBuilder(tiny.builder, target).transient(DType::F32, {plan.workspaceBytes() / 4});
      }
    }
  }
  for (auto &[name, cubin] : functions) {
    auto function = std::make_unique<fb::DeviceFunctionT>();
    function->name = name;
    function->symbol = cubin.symbol;
    function->image = cubin.image;
    tiny.builder.program.device_functions.push_back(std::move(function));
  }
  tiny.builder.program.device_compiler = "this test";
  tiny.builder.program.device_sources = deviceSourcesDigest();
  return tiny.build();
}

/// All sessions choose the algorithms of products that the first has timed.
std::unique_ptr<Session> makeGpuSession(DType dtype, CudaDeviceOptions device, const std::string &broken = "") {
  static const qrt::test::TempDirectory choices;
  device.cacheFolder = choices.path();
  StatusOr<Program> program = buildTiny(dtype, broken);
  EXPECT_OK(program);
  if (!program.ok() || compileOnly())
    return nullptr;
  // Keeps the context, and with it the library's handle, from one device to the next.
  gpu();
  StatusOr<std::unique_ptr<Device>> opened = createCudaDevice(device);
  EXPECT_OK(opened);
  if (!opened.ok())
    return nullptr;
  std::vector<Program> programs;
  programs.push_back(*std::move(program));
  StatusOr<std::unique_ptr<Session>> session =
      Session::create(std::move(programs), *std::move(opened), {.accumulate = true});
  EXPECT_OK(session);
  if (!session.ok())
    return nullptr;
  EXPECT_OK((*session)->device().zero(Space::State, 0, (*session)->program().stateBytes()));
  fillState(**session);
  return *std::move(session);
}

struct Outcome {
  std::vector<float> losses, norms;
  std::vector<std::byte> state;
};

/// Eight steps in both buckets; `ahead`: the next is started before the last is finished.
Outcome runSteps(Session &session, bool ahead) {
  Outcome outcome;
  auto finish = [&] {
    StatusOr<RunResult> run = session.finish();
    ASSERT_OK(run);
    outcome.losses.push_back(run->loss);
    outcome.norms.push_back(run->gradNorm);
  };
  for (uint32_t step = 0; step < 8; ++step) {
    HostBatch batch =
        step % 3 == 1 ? makeBatch(kLarge, {5, 8, 20}, 64, step) : makeBatch(kTinyBucket, {5, 8}, 64, step);
    EXPECT_OK(session.loadBatch(batch));
    session.setScalars(1.0F / static_cast<float>(batch.trained()), kTinyHyper, 7);
    EXPECT_OK(session.start(EntryKind::Step));
    while (session.runsUnderWay() > (ahead ? session.device().runsAhead() : 0))
      finish();
  }
  while (session.runsUnderWay() > 0)
    finish();
  outcome.state = stateOf(session);
  return outcome;
}

class CudaSession : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Types, CudaSession, ::testing::Values(DType::F32, DType::BF16),
                         [](const auto &info) { return info.param == DType::F32 ? "F32" : "BF16"; });

TEST_P(CudaSession, EveryWayToLaunchHasTheSameBits) {
  std::unique_ptr<Session> first = makeGpuSession(GetParam(), {});
  if (compileOnly())
    return;
  ASSERT_TRUE(first);
  Outcome expected = runSteps(*first, /*ahead=*/true);
  EXPECT_LT(expected.losses.back(), 1e6F);
  std::string choices = first->device().choices();
  first.reset();
  for (auto [launch, ahead, poison] : {std::tuple(LaunchMode::Graph, false, true),
                                       {LaunchMode::Graph, true, true},
                                       {LaunchMode::Eager, false, true},
                                       {LaunchMode::Eager, true, false}}) {
    SCOPED_TRACE(testing::Message() << (launch == LaunchMode::Eager ? "eager" : "graph") << " " << ahead << poison);
    std::unique_ptr<Session> session = makeGpuSession(GetParam(), {.launch = launch, .poison = poison});
    ASSERT_TRUE(session);
    Outcome got = runSteps(*session, ahead);
    EXPECT_EQ(got.losses, expected.losses);
    EXPECT_EQ(got.norms, expected.norms);
    EXPECT_TRUE(got.state == expected.state);
    EXPECT_EQ(session->device().choices(), choices);
  }
}

TEST_P(CudaSession, GoesOnAfterAStepThatIsNotFinite) {
  if (compileOnly())
    return;
  expectStepsThatAreNotFiniteChangeNothing([&] { return makeGpuSession(GetParam(), {}); });
}

// What the device takes beside the spaces is the workspace and about the constant of the plan: the context is there
// before anything can be measured, so on a GPU that others use too only growth is certain.
TEST(CudaMemory, IsAsPlanned) {
  std::unique_ptr<Session> session = makeGpuSession(DType::BF16, {});
  if (compileOnly())
    return;
  ASSERT_TRUE(session);
  runSteps(*session, true);
  std::optional<MemoryUse> use = session->device().memoryUse();
  ASSERT_TRUE(use);
  std::printf("planned %lld bytes, in use %lld, of that others %lld, the constant of a context %lld\n",
              static_cast<long long>(session->plannedBytes()), static_cast<long long>(use->bytes),
              static_cast<long long>(use->others), static_cast<long long>(kContextBytes));
  constexpr int64_t kSlack = int64_t{200} << 20;
  EXPECT_NEAR(static_cast<double>(use->bytes - use->others), static_cast<double>(session->plannedBytes()), kSlack);
}

// A device function that stops the GPU: the error says which instruction it was, or how to learn that. It leaves a
// context that nothing can be done with, so it has a process of its own.
TEST(CudaErrors, NameTheInstruction) {
  if (compileOnly()) {
    EXPECT_OK(buildTiny(DType::BF16, "swiglu<"));
    return;
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto run = [](LaunchMode launch) {
    std::unique_ptr<Session> session = makeGpuSession(DType::BF16, {.launch = launch}, "swiglu<");
    if (!session || !session->loadBatch(makeBatch(kTinyBucket, {5, 8}, 64)).ok())
      std::exit(2);
    session->setScalars(0.1F, kTinyHyper, 7);
    StatusOr<RunResult> result = session->run(EntryKind::Step);
    std::fprintf(stderr, "%s\n", result.ok() ? "no error" : result.status().message().c_str());
    std::_Exit(3);
  };
  EXPECT_EXIT(run(LaunchMode::Eager), ::testing::ExitedWithCode(3),
              "tiny.qprog: entry step 16x4x16x12: instruction 3 .swiglu, layers.0.mlp.: .*CUDA_ERROR");
  EXPECT_EXIT(
      run(LaunchMode::Graph), ::testing::ExitedWithCode(3),
      "entry step 16x4x16x12, replayed as a graph .with --launch eager the error names the instruction.: .*CUDA_ERROR");
}

} // namespace
} // namespace qrt::cuda::test
