// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs with random faults that the verifier accepts run within their spaces, whatever they compute. Under
// AddressSanitizer every space is an allocation of its own, so a step outside is seen.
#include "tests/unit/runtime/support/TinySession.h"

namespace qrt {
namespace {

using namespace test;

/// A cluster in the place of every swiglu.
void makeClusters(TinyProgram &tiny) {
  auto swiglu = tiny.builder.kernel(Kernel::Swiglu), pointwise = tiny.builder.kernel(Kernel::Pointwise);
  for (const std::unique_ptr<fb::EntryT> &entry : tiny.builder.program.entries)
    for (const std::unique_ptr<fb::InstructionT> &instruction : entry->instructions)
      if (fb::LaunchT *launch = instruction->work.AsLaunch(); launch && launch->kernel == swiglu) {
        fb::Arg gate = launch->args[0], up = launch->args[1], y = launch->args[2], none(-1, fb::Effect_Write);
        launch->kernel = pointwise;
        launch->args = {y, none, none, none, gate, up};
        launch->expression = std::make_unique<fb::ExpressionT>();
        for (auto [op, a, b] : {std::tuple(fb::ExpressionOp_Silu, 0, 0), std::tuple(fb::ExpressionOp_Mul, 2, 1)}) {
          fb::ExpressionStepT &step = *launch->expression->steps.emplace_back(std::make_unique<fb::ExpressionStepT>());
          step.op = op, step.a = static_cast<uint16_t>(a), step.b = static_cast<uint16_t>(b);
        }
        launch->expression->results = {3};
      }
}

class Mutator {
public:
  Mutator(TinyProgram &tiny, std::mt19937_64 &random) : tiny_(tiny), random_(random) {}

  void run() {
    fb::EntryT &entry = *pick(tiny_.builder.program.entries);
    switch (random_() % 14) {
    case 0:
    case 1:
      slice(entry).offset += static_cast<uint64_t>((static_cast<int64_t>(random_() % 65) - 32) * 4);
      return;
    case 2:
      nudge(slice(entry).shape);
      return;
    case 3:
      nudge(slice(entry).strides);
      return;
    case 4: {
      fb::SliceT &it = slice(entry);
      if (it.shape.size() == 2)
        std::swap(it.shape[0], it.shape[1]), it.strides = denseStrides(it.shape);
      return;
    }
    case 5:
      slice(entry).dtype = static_cast<fb::DType>(random_() % 6);
      return;
    case 6:
    case 7: {
      // Another slice of the same type is more likely to pass.
      fb::LaunchT *launch = pick(entry.instructions)->work.AsLaunch();
      if (!launch || launch->args.empty())
        return;
      fb::Arg &arg = launch->args[random_() % launch->args.size()];
      auto other = static_cast<int32_t>(random_() % entry.slices.size());
      for (int attempt = 0;
           attempt < 20 && arg.slice() >= 0 &&
           entry.slices[static_cast<size_t>(other)]->shape != entry.slices[static_cast<size_t>(arg.slice())]->shape;
           ++attempt)
        other = static_cast<int32_t>(random_() % entry.slices.size());
      arg = fb::Arg(random_() % 8 ? other : -1, arg.effect());
      return;
    }
    case 8:
      entry.instructions.erase(entry.instructions.begin() +
                               static_cast<int64_t>(random_() % entry.instructions.size()));
      std::erase_if(entry.debug, [&](auto &value) { return value->instruction >= entry.instructions.size(); });
      return;
    case 9:
      std::swap(pick(entry.instructions)->work, pick(entry.instructions)->work);
      return;
    case 10:
      if (fb::LaunchT *launch = pick(entry.instructions)->work.AsLaunch(); launch && !launch->params.empty())
        launch->params[random_() % launch->params.size()] =
            random_() % 2 ? static_cast<int64_t>(random_() % 200) : static_cast<int64_t>(random_());
      return;
    case 11:
    case 12:
      for (const std::unique_ptr<fb::InstructionT> &instruction : entry.instructions)
        if (fb::LaunchT *launch = instruction->work.AsLaunch(); launch && launch->expression)
          return change(*launch->expression);
      return;
    default: {
      int64_t numbers[] = {16, 4, 16, 12};
      numbers[random_() % 4] -= static_cast<int64_t>(random_() % 4);
      if (entry.kind != fb::EntryKind_Apply)
        entry.bucket = std::make_unique<fb::Bucket>(numbers[0], numbers[1], numbers[2], numbers[3]);
    }
    }
  }

private:
  template <typename T> T &pick(std::vector<T> &items) { return items[random_() % items.size()]; }
  fb::SliceT &slice(fb::EntryT &entry) { return *pick(entry.slices); }
  void change(fb::ExpressionT &expression) {
    auto number = [&] { return static_cast<uint16_t>(random_() % 8 ? random_() % 5 : random_()); };
    switch (random_() % 6) {
    case 0:
      pick(expression.results) = number();
      return;
    case 1:
      expression.results.push_back(number());
      return;
    case 2:
      for (uint64_t more = random_() % 70; more > 0; --more)
        expression.steps.push_back(std::make_unique<fb::ExpressionStepT>());
      return;
    case 3:
      pick(expression.steps)->constant = random_() % 2 ? 1e300 : 0.5;
      return;
    default: {
      fb::ExpressionStepT &step = *pick(expression.steps);
      step.op = static_cast<fb::ExpressionOp>(random_() % (kNumExpressionOps + 1));
      (random_() % 2 ? step.a : step.b) = number();
    }
    }
  }
  void nudge(std::vector<int64_t> &numbers) {
    if (!numbers.empty())
      pick(numbers) += static_cast<int64_t>(random_() % 9) - 4;
  }

  TinyProgram &tiny_;
  std::mt19937_64 &random_;
};

TEST(HostileProgram, StaysInItsSpaces) {
  std::mt19937_64 random(11);
  int accepted = 0, runs = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    TinyProgram tiny({.dtype = trial % 2 ? DType::F32 : DType::BF16});
    if (trial % 3 == 0)
      makeClusters(tiny);
    for (uint64_t faults = 1 + random() % 3; faults > 0; --faults)
      Mutator(tiny, random).run();
    StatusOr<Program> program = tiny.build();
    if (!program.ok())
      continue;
    ++accepted;
    std::vector<Program> programs;
    programs.push_back(std::move(*program));
    StatusOr<std::unique_ptr<Session>> session =
        Session::create(std::move(programs), cpu::createCpuDevice({.threads = 1, .poison = trial % 4 < 2}),
                        {.accumulate = true, .memoryLimit = 1 << 20});
    if (!session.ok())
      continue;
    fillState(**session);
    for (EntryKind kind : {EntryKind::Step, EntryKind::Accumulate, EntryKind::Eval})
      for (const BucketShape &bucket : (*session)->buckets(kind)) {
        if (!bucket.holds({13, 2, 8, 8}))
          continue;
        ASSERT_OK((*session)->loadBatch(makeBatch(bucket, {5, 8}, 23)));
        (*session)->setScalars(0.1F, kTinyHyper, 7);
        ASSERT_OK((*session)->run(kind));
        ++runs;
      }
    ASSERT_OK((*session)->run(EntryKind::Apply));
  }
  EXPECT_GT(accepted, 500);
  EXPECT_GT(runs, 1500);
}

} // namespace
} // namespace qrt
