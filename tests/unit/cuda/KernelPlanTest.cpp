// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that no device function can take are refused before anything is launched; what a fill becomes as a launch.
#include "runtime/backends/cuda/device/CopyRows.h"
#include "runtime/backends/cuda/device/Pointwise.h"
#include "tests/unit/cuda/PlannedCall.h"

#include <algorithm>
#include <deque>
#include <random>

using namespace qrt;
using namespace qrt::cuda;
using namespace qrt::cuda::test;

namespace {

/// The reason why a call is refused; empty if it is planned.
std::string refusal(Kernel kernel, const std::vector<std::vector<int64_t>> &shapes, BucketShape bucket = {},
                    DevicePtr workspace = kAddress) {
  ParamValue params[] = {{.f = 1e-6}};
  KernelPlan plan(workspace);
  Status status =
      planDense(kernel, DType::F32, std::vector<std::optional<std::vector<int64_t>>>(shapes.begin(), shapes.end()),
                std::span(params, kernelInfo(kernel).params.size()), bucket, plan);
  return status.ok() ? "" : status.message();
}

/// A cluster y = silu(x) of one type and shape.
struct SiluCluster {
  explicit SiluCluster(const TensorShape &shape, DevicePtr x = 2 * kAddress) {
    args.resize(kMaxExpressionResults);
    args[0] = {shape, kAddress};
    args.push_back({shape, x});
    effects.assign(args.size(), ArgEffect::Write);
    effects.back() = ArgEffect::Read;
    status = planKernel({Kernel::Pointwise, args, effects, {}, {}, {}, &expression}, plan);
  }

  /// Of its only launch.
  device::PointwiseParams params() const {
    return paramsOf<device::PointwiseParams>(std::get<DeviceLaunch>(plan.works().at(0)));
  }
  /// "8": elements of a piece.
  std::string width() const {
    const std::string &function = std::get<DeviceLaunch>(plan.works().at(0)).function;
    return function.substr(sizeof("pointwise"), function.find(',') - sizeof("pointwise"));
  }

  Expression expression{{{ExpressionOp::Silu, 0}}, {1}};
  std::vector<Tensor> args;
  std::vector<ArgEffect> effects;
  KernelPlan plan{kAddress};
  Status status;
};

TEST(KernelPlan, RowsOfAClusterAreJoinedBelowTwoToThe31) {
  SiluCluster small(denseShape(DType::BF16, std::array<int64_t, 2>{32768, 34816}));
  ASSERT_TRUE(small.status.ok()) << small.status.message();
  EXPECT_EQ(small.params().dims[2].value, 32768u * 34816 / 8);
  // More elements than 32 bits count: rows by themselves.
  SiluCluster large(denseShape(DType::BF16, std::array<int64_t, 2>{131072, 34816}));
  ASSERT_TRUE(large.status.ok()) << large.status.message();
  EXPECT_EQ(large.params().dims[2].value, 34816u / 8);
  EXPECT_EQ(large.params().pieces, 131072u * (34816 / 8));
  EXPECT_EQ(large.params().tensors[0].strides[2], 34816);
  // The two outer dimensions are joined, but not with the last.
  SiluCluster outer(denseShape(DType::BF16, std::array<int64_t, 3>{131072, 17, 2048}));
  ASSERT_TRUE(outer.status.ok()) << outer.status.message();
  EXPECT_EQ(outer.params().dims[2].value, 2048u / 8);
  EXPECT_EQ(outer.params().dims[1].value, 131072u * 17);
}

TEST(KernelPlan, RowsOfAClusterAreLongByTheirOwnElements) {
  // No whole number of pieces of 8 in all, and short rows.
  SiluCluster narrow(denseShape(DType::BF16, std::array<int64_t, 2>{1001, 3}));
  ASSERT_TRUE(narrow.status.ok()) << narrow.status.message();
  EXPECT_EQ(narrow.width(), "1");
  EXPECT_EQ(narrow.params().pieces, 3003u);
  // Pieces go on over the ends of rows that lie one behind the other.
  SiluCluster joined(denseShape(DType::BF16, std::array<int64_t, 2>{1000, 3}));
  ASSERT_TRUE(joined.status.ok()) << joined.status.message();
  EXPECT_EQ(joined.width(), "8");
  EXPECT_EQ(SiluCluster(denseShape(DType::BF16, std::array<int64_t, 2>{3, 1025})).status.message(),
            "pointwise: rows of 1025 elements: expected them to start on 16 bytes in every argument and to be a "
            "multiple of 8 elements long");
  EXPECT_TRUE(SiluCluster(denseShape(DType::BF16, std::array<int64_t, 2>{3, 1023})).status.ok());
  EXPECT_FALSE(SiluCluster(denseShape(DType::BF16, std::array<int64_t, 2>{8, 2048}), 2 * kAddress + 2).status.ok());
}

TEST(KernelPlan, RowsAndTheirLengthsAreBelowTwoToThe31) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  EXPECT_EQ(refusal(Kernel::RmsNormGrad, {{8, 64}, {64}, {8}, {8, 64}, {8, 64}, {64}}), "");
  EXPECT_EQ(refusal(Kernel::RmsNormGrad, {{kMost + 1, 64}, {64}, {kMost + 1}, {kMost + 1, 64}, {kMost + 1, 64}, {64}}),
            "rms_norm_grad: argument x of f32[2147483648, 64]: expected rows, and elements of a row, below 2^31");
  // 2^16 x 2^15 elements in a row.
  EXPECT_NE(refusal(Kernel::Swiglu, {{1, 1 << 16, 1 << 15}, {1, 1 << 16, 1 << 15}, {1, 1 << 16, 1 << 15}}), "");
}

TEST(KernelPlan, TablesAreBelowTwoToThe31) {
  std::string text = refusal(Kernel::Attention, {}, {1 << 25, 1 << 25, 1, 1});
  EXPECT_NE(text.find("rows of statistics below 2^31"), std::string::npos) << text;
}

TEST(KernelPlan, NumbersAreNotCutTo32Bits) {
  // 2^20 tiles and one for the tail, of 2^12 heads each.
  constexpr int64_t kTokens = 1 << 20, kHeads = 1 << 12;
  std::vector<int64_t> heads{kTokens, kHeads, 1}, rows{kTokens, kHeads};
  EXPECT_EQ(refusal(Kernel::Attention, {{8}, heads, heads, heads, heads, heads, rows, heads}, {kTokens, kTokens, 1, 1}),
            "attention: needs a grid of 4294967295 x 1 x 1 blocks, but a GPU takes at most 2147483647 x 65535 x 65535");
  EXPECT_EQ(refusal(Kernel::GlobalNorm, {{}, {1 << 30, 1 << 20}}),
            "global_norm: expected less than 2^31 rows or pieces of rows in all, got 17179869184 up to "
            "f32[1073741824, 1048576]");
  // One key head of 1,024 and one value head of 2,048: weights of 4,096 channels and 2^19 taps.
  constexpr int64_t kC = 1 << 12, kTaps = 1 << 19;
  std::vector<int64_t> qkv{64, kC}, one{64, 1}, weight{kC, 1, kTaps}, keys{64, 1, 1 << 10}, values{64, 1, 1 << 11};
  EXPECT_EQ(
      refusal(Kernel::GatedDeltaInputsGrad,
              {{8}, qkv, one, one, weight, {1}, {1}, keys, keys, values, one, one, qkv, one, one, weight, {1}, {1}},
              {64, 1, 64, 64}),
      "gated_delta_inputs_grad: argument conv_weight of f32[4096, 1, 524288]: expected dimension 0 to be less than "
      "2^31 divided by dimension 2");
}

TEST(KernelPlan, GridsAndWorkspaceHaveLimits) {
  struct Nothing {};
  for (auto [grid, fits] : {std::pair{Dim3{1, 1, 1}, true},
                            {{0, 1, 1}, false},
                            {{INT32_MAX, 65535, 65535}, true},
                            {{1, 65536, 1}, false},
                            {{1, 1, 65536}, false}}) {
    KernelPlan plan(kAddress);
    plan.launch("", "", grid, {32}, 0, Nothing{});
    EXPECT_EQ(plan.status().ok(), fits) << grid.x << " x " << grid.y << " x " << grid.z;
  }
  for (int64_t bytes : {int64_t{-1}, int64_t{1} << 62}) {
    KernelPlan plan(kAddress);
    plan.workspace(bytes);
    EXPECT_FALSE(plan.status().ok()) << bytes;
  }
  KernelPlan unaligned(kAddress + 4);
  unaligned.workspace(0);
  EXPECT_TRUE(unaligned.status().ok());
  unaligned.workspace(1);
  EXPECT_FALSE(unaligned.status().ok());
}

TEST(KernelPlan, AFillIsALaunchOfOneFunction) {
  for (int64_t bytes : {4, 60, 4096, 4100, 1 << 20}) {
    DeviceLaunch fill = kernelFill(kAddress + 4, bytes);
    EXPECT_EQ(fill.function, "zeroRows<unsigned>") << bytes;
    auto params = paramsOf<device::CopyRowsParams>(fill);
    EXPECT_EQ(params.target, kAddress + 4);
    EXPECT_EQ(params.units, bytes / 4);
    EXPECT_EQ(params.targetStrides[3], 1);
    EXPECT_EQ(params.dims[2].value, params.units) << "all in the last dimension";
    int64_t places = int64_t{fill.grid.x} * device::kCopyThreads * device::kCopyUnits;
    EXPECT_GE(places, params.units);
    EXPECT_LT(places - params.units, device::kCopyThreads * device::kCopyUnits);
  }
}

/// A call of adamw on elements of bf16 with an f32 gradient, all tensors far from those of other places.
struct Update {
  explicit Update(DevicePtr place, int64_t elements = 256) {
    args.resize(9);
    std::vector<int64_t> dims = {elements}, one = {1};
    for (size_t i : {0, 5, 6, 7})
      args[i] = {denseShape(i == 0 ? DType::F32 : DType::BF16, dims), kAddress * place + (DevicePtr{i} << 20)};
    for (size_t i = 1; i <= 4; ++i)
      args[i] = {denseShape(DType::F32, one), kAddress + (DevicePtr{i} << 20)};
  }
  Call call() const { return {Kernel::AdamW, args, {}, {}, {}, {}}; }
  std::vector<Tensor> args;
};

TEST(Updates, JoinWhereNoneSeesWhatAnotherWrites) {
  Update a(2), b(3), next(4);
  auto joins = [&] {
    UpdateGroup group;
    EXPECT_TRUE(group.join(a.call()));
    EXPECT_TRUE(group.join(b.call()));
    bool joined = group.join(next.call());
    EXPECT_EQ(group.calls().size(), joined ? 3u : 2u);
    return joined;
  };
  EXPECT_TRUE(joins());
  // Another norm, step, learning rate or seed.
  for (size_t scalar = 1; scalar <= 4; ++scalar) {
    next = Update(4);
    next.args[scalar].data += 4;
    EXPECT_FALSE(joins()) << scalar;
  }
  // Another type of the gradient, the weight or a moment.
  for (size_t i : {0, 5, 6, 7}) {
    next = Update(4);
    DType &dtype = next.args[i].shape.dtype;
    dtype = dtype == DType::F32 ? DType::BF16 : DType::F32;
    EXPECT_FALSE(joins()) << i;
  }
  next = Update(4);
  next.args[8] = {denseShape(DType::F32, std::vector<int64_t>{256}), kAddress * 5};
  EXPECT_FALSE(joins()) << "a master";
  // Weight, moments and the gradient of one within what the other updates; of the call before the last as well.
  for (const Update *other : {&a, &b})
    for (size_t i : {0, 5, 6, 7}) {
      next = Update(4);
      next.args[i].data = other->args[5].data + 510;
      EXPECT_FALSE(joins()) << i;
      next.args[i].data = other->args[5].data + 512;
      EXPECT_TRUE(joins()) << i;
    }
  next = Update(4);
  next.args[7].data = a.args[0].data;
  EXPECT_FALSE(joins()) << "the gradient of the first";
  next.args[7] = Update(4).args[7];
  next.args[0].data = a.args[0].data;
  EXPECT_TRUE(joins()) << "both read the gradient";
}

/// Whether `a` writes what `b` reads or writes, of two calls with masters and far scalars.
bool writesArgumentOf(const Update &a, const Update &b) {
  for (size_t written : {5, 6, 7, 8})
    for (size_t arg : {0, 5, 6, 7, 8}) {
      const Tensor &x = a.args[written], &y = b.args[arg];
      auto bytes = [](const Tensor &tensor) { return DevicePtr(tensor.dim(0) * byteSize(tensor.shape.dtype)); };
      if (x.data < y.data + bytes(y) && y.data < x.data + bytes(x))
        return true;
    }
  return false;
}

TEST(Updates, JoinWhereNoPairClashes) {
  std::mt19937 random(3);
  size_t joined = 0, refused = 0;
  for (int round = 0; round < 50; ++round) {
    std::deque<Update> updates;
    UpdateGroup group;
    for (int i = 0; i < 40; ++i) {
      // Small and large, among so few addresses that many overlap: most of the gradients.
      Update next(2, int64_t{4} << random() % 9);
      next.args[8].shape = next.args[0].shape;
      for (size_t arg : {0, 5, 6, 7, 8})
        next.args[arg].data = 2 * kAddress + random() % (arg == 0 ? 256 : 4096) * 32;
      bool fits = std::none_of(updates.begin(), updates.end(), [&](const Update &update) {
        return writesArgumentOf(update, next) || writesArgumentOf(next, update);
      });
      updates.push_back(next);
      ASSERT_EQ(group.join(updates.back().call()), fits) << "round " << round << ", call " << i;
      ++(fits ? joined : refused);
      if (!fits)
        updates.pop_back();
    }
  }
  EXPECT_GT(joined, 250u);
  EXPECT_GT(refused, 250u);
}

} // namespace
