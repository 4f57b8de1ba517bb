// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocks that matrix kernels are made of (device/Hopper.cuh), each by itself against a plain loop: a product of a
// warpgroup of every width and arrangement of its operands, and what the copy engine leaves in shared memory.
#include "runtime/backends/cuda/device/Types.h"
#include "tests/gpu/DeviceHarness.h"

using namespace qrt;
using namespace qrt::cuda;
using namespace qrt::cuda::test;
namespace device = qrt::device;

namespace {

constexpr char kDeviceCode[] = R"(
#include "Common.cuh"
#include "Hopper.cuh"
using namespace qrt::device;

struct ProductParams { Ptr a, b, d; };

// a [64, 64] and b [kColumns, 64], d [64, kColumns]: 1 + a b^T over 64 in four steps. kRegisters: a as fragments.
template <int kColumns, int kMajorA, int kMajorB, bool kRegisters>
__global__ void __launch_bounds__(128) testProduct(const __grid_constant__ ProductParams p) {
  constexpr Major kA = static_cast<Major>(kMajorA), kB = static_cast<Major>(kMajorB);
  constexpr unsigned kPanelB = kB == Major::K ? kColumns * 128 : 64 * 128;
  extern __shared__ __align__(1024) unsigned char shared[];
  unsigned char *tileA = shared, *tileB = shared + 8192;
  for (int i = threadIdx.x; i < 64 * 64; i += 128) {
    int m = i / 64, k = i % 64;
    unsigned at = kA == Major::K ? panelOffset(m, k) : panelOffset(k, m);
    *reinterpret_cast<bf16 *>(tileA + at) = as<const bf16>(p.a)[i];
  }
  for (int i = threadIdx.x; i < kColumns * 64; i += 128) {
    int n = i / 64, k = i % 64;
    unsigned at = kB == Major::K ? panelOffset(n, k) : n / 64 * kPanelB + panelOffset(k, n % 64);
    *reinterpret_cast<bf16 *>(tileB + at) = as<const bf16>(p.b)[i];
  }
  int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, row = 16 * warp + g;
  unsigned fragments[16];
  for (int i = 0; i < 16; ++i) {
    int m = row + i % 2 * 8, k = i / 4 * 16 + i % 4 / 2 * 8 + 2 * t;
    fragments[i] = *reinterpret_cast<const unsigned *>(as<const bf16>(p.a) + m * 64 + k);
  }
  fenceShared();
  __syncthreads();
  float d[kColumns / 2];
  for (float &x : d)
    x = 1;
  pin(d);
  beginProducts();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    unsigned advanceA = kA == Major::K ? 32 : 2048, advanceB = kB == Major::K ? 32 : 2048;
    unsigned long long b = advanced(operand<kB>(tileB, kPanelB), step * advanceB);
    if constexpr (kRegisters)
      product<kColumns, kB>(d, fragments + 4 * step, b, 1);
    else
      product<kColumns, kA, kB>(d, advanced(operand<kA>(tileA, 8192), step * advanceA), b, 1);
  }
  endProducts();
  waitProducts();
  pin(d);
  for (int i = 0; i < kColumns / 2; ++i)
    as<float>(p.d)[(row + i % 4 / 2 * 8) * kColumns + i / 4 * 8 + 2 * t + i % 2] = d[i];
}

struct CopyParams { TensorMap map; Ptr from, d, bytes; int head, row; };

// The box of 64 columns from 64 of `head` and of kRows rows from `row`, as it is found by panelOffset; 256 bytes of
// `from`.
template <int kRows> __global__ void __launch_bounds__(128) testCopy(const __grid_constant__ CopyParams p) {
  extern __shared__ __align__(1024) unsigned char shared[];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) {
    prefetchMap(p.map);
    initBarrier(&barrier, 1);
    fenceBarriers();
  }
  __syncthreads();
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) {
      arriveAndExpect(&barrier, kRows * 128 + 256);
      copyBox(shared, p.map, &barrier, 64, p.head, p.row + round);
      copyBytes(shared + kRows * 128, as<const unsigned char>(p.from), 256, &barrier);
    }
    wait(&barrier, round);
    __syncthreads();
  }
  for (int i = threadIdx.x; i < kRows * 64; i += 128)
    as<bf16>(p.d)[i] = *reinterpret_cast<bf16 *>(shared + panelOffset(i / 64, i % 64));
  for (int i = threadIdx.x; i < 256; i += 128)
    as<unsigned char>(p.bytes)[i] = shared[kRows * 128 + i];
}

struct RolesParams { Ptr d; };

// Registers given and taken; a producer and two consumers that pass a value round by barriers and take turns.
__global__ void __launch_bounds__(384, 1) testRoles(const __grid_constant__ RolesParams p) {
  __shared__ Barrier full, empty;
  __shared__ int value, turns;
  if (threadIdx.x == 0) {
    initBarrier(&full, 1);
    initBarrier(&empty, 8);
    fenceBarriers();
    turns = 0;
  }
  __syncthreads();
  int group = threadIdx.x / 128;
  if (group == 0) {
    giveRegisters<24>();
    if (threadIdx.x == 0)
      for (int i = 0; i < 10; ++i) {
        wait(&empty, (i & 1) ^ 1);
        value = i * i;
        arrive(&full);
      }
  } else {
    takeRegisters<240>();
    int sum = 0;
    if (group == 2)
      arriveThreads(1, 256);
    for (int i = 0; i < 10; ++i) {
      wait(&full, i & 1);
      sum += value;
      syncThreads(group, 256);
      if (threadIdx.x % 128 == 0)
        turns = turns * 3 + group;
      arriveThreads(3 - group, 256);
      __syncwarp();
      if (threadIdx.x % 32 == 0)
        arrive(&empty);
    }
    as<int>(p.d)[threadIdx.x - 128] = sum;
    syncThreads(3, 256);
    if (threadIdx.x == 128)
      as<int>(p.d)[256] = turns;
  }
}
)";

/// Launches functions of kDeviceCode.
class Hopper : public testing::Test {
protected:
  template <typename Params>
  void launch(const std::string &function, Params params, uint32_t threads, uint32_t sharedBytes,
              std::vector<TensorMapSpec> maps = {}) {
    static TestFunctions functions(kDeviceCode);
    Status status = functions.launch(function, params, threads, sharedBytes, std::move(maps));
    ASSERT_TRUE(status.ok()) << status.message();
  }
  DeviceMemory onDevice(HostTensor &tensor) {
    if (compileOnly())
      return DeviceMemory();
    StatusOr<DeviceMemory> memory = gpu().allocate(static_cast<int64_t>(tensor.bytes().size()));
    EXPECT_TRUE(memory.ok() && gpu().write(memory->data(), tensor.bytes()).ok());
    return *std::move(memory);
  }
  void readBack(const DeviceMemory &memory, HostTensor &tensor) {
    EXPECT_TRUE(compileOnly() || gpu().read(memory.data(), tensor.bytes()).ok());
  }

  std::mt19937 random{testSeed()};
};

struct ProductParams {
  device::Ptr a, b, d;
};
struct CopyParams {
  device::TensorMap map;
  device::Ptr from, d, bytes;
  int head, row;
};
struct RolesParams {
  device::Ptr d;
};

} // namespace

TEST_F(Hopper, Products) {
  for (int columns : {16, 32, 48, 64, 80, 128, 256})
    for (bool registers : {false, true})
      for (int majorA : {0, 1})
        for (int majorB : {0, 1}) {
          if (registers && majorA)
            continue;
          HostTensor a(DType::BF16, {64, 64}), b(DType::BF16, {columns, 64}), d(DType::F32, {64, columns});
          a.randomize(random), b.randomize(random);
          DeviceMemory deviceA = onDevice(a), deviceB = onDevice(b), deviceD = onDevice(d);
          std::string function =
              fmt::format("testProduct<{}, {}, {}, {}>", columns, majorA, majorB, registers ? "true" : "false");
          launch(function, ProductParams{deviceA.data(), deviceB.data(), deviceD.data()}, 128, 8192 + 4 * 8192);
          readBack(deviceD, d);
          std::vector<double> expected(static_cast<size_t>(64 * columns), 1);
          for (int m = 0; m < 64; ++m)
            for (int n = 0; n < columns; ++n)
              for (int k = 0; k < 64; ++k)
                expected[static_cast<size_t>(m * columns + n)] += a.get(m * 64 + k) * b.get(n * 64 + k);
          expectNear(d, expected, 1e-6, function);
        }
}

TEST_F(Hopper, BoxesOfTheCopyEngine) {
  // Three heads of width 192 in rows of a wider matrix; the last box hangs over the end.
  constexpr int64_t kRows = 200, kHeads = 3, kWidth = 192, kGap = 8, kBox = 80;
  HostTensor x(DType::BF16, {kRows, kHeads, kWidth}, kGap), from(DType::F32, {64});
  x.randomize(random), from.randomize(random);
  DeviceMemory deviceX = onDevice(x), deviceFrom = onDevice(from);
  for (int row : {0, 64, 129, -3})
    for (int head : {0, 2}) {
      HostTensor d(DType::BF16, {kBox, 64}), bytes(DType::F32, {64});
      DeviceMemory deviceD = onDevice(d), deviceBytes = onDevice(bytes);
      TensorMapSpec map;
      map.paramOffset = offsetof(CopyParams, map);
      map.base = deviceX.data();
      map.rank = 3;
      map.dims = {kWidth, kHeads, kRows};
      map.strides = {(kWidth + kGap) * 2, (kWidth + kGap) * kHeads * 2};
      map.box = {64, 1, kBox};
      launch("testCopy<80>", CopyParams{{}, deviceFrom.data(), deviceD.data(), deviceBytes.data(), head, row}, 128,
             kBox * 128 + 256, {map});
      readBack(deviceD, d);
      readBack(deviceBytes, bytes);
      std::vector<double> expected;
      for (int64_t r = row + 1; r < row + 1 + kBox; ++r)
        for (int64_t c = 64; c < 128; ++c)
          expected.push_back(r < 0 || r >= kRows ? 0 : x.get((r * kHeads + head) * kWidth + c));
      expectNear(d, expected, 0, fmt::format("box at row {} of head {}", row + 1, head));
      expectNear(bytes, from.values(), 0, "bytes");
    }
}

TEST_F(Hopper, RolesOfABlock) {
  HostTensor d(DType::I32, {257});
  DeviceMemory deviceD = onDevice(d);
  launch("testRoles", RolesParams{deviceD.data()}, 384, 0);
  readBack(deviceD, d);
  int turns = 0;
  for (int i = 0; i < 10; ++i)
    turns = (turns * 3 + 1) * 3 + 2;
  for (int64_t i = 0; i < 256; ++i)
    EXPECT_EQ(d.get(i), 285) << "thread " << i;
  EXPECT_EQ(d.get(256), turns);
}
