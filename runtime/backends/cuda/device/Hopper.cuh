// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of compute capability 9.0 that matrix kernels are made of, under names: barriers in shared memory,
// the copy engine, products of a warpgroup (wgmma), registers passed between warpgroups.
//
// Tiles of bf16 lie in shared memory as panels: 64 columns (128 bytes) wide, one row after the other, the eight chunks
// of 16 bytes of row r exchanged by chunk ^ (r % 8) (the copy engine's swizzle of 128 bytes). A panel begins on 1024
// bytes. A tile wider than 64 columns is several panels. Either dimension of a tile can be the one that is summed over
// in a product (Major).
#ifndef RUNTIME_BACKENDS_CUDA_DEVICE_HOPPER_CUH
#define RUNTIME_BACKENDS_CUDA_DEVICE_HOPPER_CUH

#include "Types.h"

namespace qrt::device {

/// An address in shared memory as the instructions take it. Kernels that are short of registers compute with these:
/// a pointer takes twice as many. Functions below take either.
using SharedAddress = unsigned;
__device__ __forceinline__ SharedAddress sharedAddress(const void *pointer) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(pointer));
}
__device__ __forceinline__ SharedAddress sharedAddress(SharedAddress address) { return address; }

/// Eight bytes, read at this very place: the compiler keeps nothing that it read before.
__device__ __forceinline__ uint2 loadSharedAgain(const void *from) {
  uint2 x;
  asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x.x), "=r"(x.y) : "r"(sharedAddress(from)));
  return x;
}

// Barriers in shared memory: 8 bytes each. A phase ends when all arrivals and all announced bytes have come; phases are
// told apart by their parity, the first is 0. Waiting for parity 1 on a fresh barrier returns at once.

using Barrier = unsigned long long;

template <typename Address> __device__ __forceinline__ void initBarrier(Address barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(barrier)), "r"(arrivals) : "memory");
}
/// After initBarrier and before the block's barrier: makes the barriers known to the copy engine.
__device__ __forceinline__ void fenceBarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
template <typename Address> __device__ __forceinline__ void arrive(Address barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sharedAddress(barrier)) : "memory");
}
/// Arrives and announces bytes that copies will bring.
template <typename Address> __device__ __forceinline__ void arriveAndExpect(Address barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sharedAddress(barrier)), "r"(bytes)
               : "memory");
}
template <typename Address> __device__ __forceinline__ void wait(Address barrier, unsigned parity) {
  unsigned done;
  do {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.b32 %0, 1, 0, p;\n"
                 "}\n"
                 : "=r"(done)
                 : "r"(sharedAddress(barrier)), "r"(parity)
                 : "memory");
  } while (!done);
}

/// Barrier `id` (1 to 15) of `threads` threads, whole warps.
__device__ __forceinline__ void syncThreads(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/// Counts for it without waiting.
__device__ __forceinline__ void arriveThreads(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Between ordinary writes to shared memory and their reading by wgmma or the copy engine: by each writing thread,
/// before the barrier.
__device__ __forceinline__ void fenceShared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Copies by threads into shared memory, 16 bytes each, which count for the thread alone.

__device__ __forceinline__ void copyChunk(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(sharedAddress(to)), "l"(from) : "memory");
}
/// What was started since the last call is one group.
__device__ __forceinline__ void endChunks() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Until no more than the youngest kGroups of the thread's groups are on their way.
template <int kGroups> __device__ __forceinline__ void waitChunks() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

// The copy engine. One thread starts a copy; its bytes count for the barrier.

__device__ __forceinline__ void prefetchMap(const TensorMap &map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
/// The box at coordinates (x, y, z), innermost first, of a tensor of three dimensions. What lies outside is zero and is
/// counted all the same.
template <typename Address, typename BarrierAddress>
__device__ __forceinline__ void copyBox(Address to, const TensorMap &map, BarrierAddress barrier, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
               "[%2];" ::"r"(sharedAddress(to)),
               "l"(&map), "r"(sharedAddress(barrier)), "r"(x), "r"(y), "r"(z)
               : "memory");
}
/// `bytes` and both addresses are multiples of 16.
template <typename Address, typename BarrierAddress>
__device__ __forceinline__ void copyBytes(Address to, const void *from, unsigned bytes, BarrierAddress barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   sharedAddress(to)),
               "l"(from), "r"(bytes), "r"(sharedAddress(barrier))
               : "memory");
}

/// From shared memory to memory; `bytes` and both addresses are multiples of 16. Counts for the thread's group of
/// stores.
__device__ __forceinline__ void storeBytes(void *to, const void *from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(sharedAddress(from)),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void endStores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Until the thread's stores have read what they store.
__device__ __forceinline__ void waitStoresRead() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// Clusters: blocks that run at the same time and reach each other's shared memory.

/// This block's place in its cluster.
__device__ __forceinline__ unsigned clusterRank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// A barrier of all threads of the cluster, in two halves. What was written before the first, into shared memory of any
/// block, is seen after the second.
__device__ __forceinline__ void clusterArrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void clusterWait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
/// Stores where `shared` of this block lies in the block of that rank; its eight bytes count there for `barrier`.
__device__ __forceinline__ void sendToBlock(float2 *shared, Barrier *barrier, unsigned rank, float2 value) {
  asm volatile("{\n"
               ".reg .b32 to, counting;\n"
               "mapa.shared::cluster.u32 to, %0, %2;\n"
               "mapa.shared::cluster.u32 counting, %1, %2;\n"
               "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [to], {%3, %4}, [counting];\n"
               "}\n" ::"r"(sharedAddress(shared)),
               "r"(sharedAddress(barrier)), "r"(rank), "f"(value.x), "f"(value.y)
               : "memory");
}

/// As wait(), where bytes of other blocks count.
__device__ __forceinline__ void waitForBlocks(Barrier *barrier, unsigned parity) {
  unsigned done;
  do {
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
                 "selp.b32 %0, 1, 0, p;\n"
                 "}\n"
                 : "=r"(done)
                 : "r"(sharedAddress(barrier)), "r"(parity)
                 : "memory");
  } while (!done);
}

// Matrices of 8 x 8 bf16 between the registers of a warp and shared memory, four at once: lane 8 i + r gives the
// address of row r (16 bytes) of matrix i. Of each matrix, lane 4 g + t holds the elements 2 t and 2 t + 1 of row g;
// transposed: of column g.

template <bool kTransposed> __device__ __forceinline__ void loadMatrices(unsigned (&x)[4], const void *row) {
  if constexpr (kTransposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(sharedAddress(row))
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(sharedAddress(row))
                 : "memory");
}
template <bool kTransposed>
__device__ __forceinline__ void storeMatrices(void *row, unsigned x0, unsigned x1, unsigned x2, unsigned x3) {
  if constexpr (kTransposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(sharedAddress(row)),
                 "r"(x0), "r"(x1), "r"(x2), "r"(x3)
                 : "memory");
  else
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(sharedAddress(row)), "r"(x0),
                 "r"(x1), "r"(x2), "r"(x3)
                 : "memory");
}

// Products of a warp. Lane 4 g + t has of d[16, 8] the columns 2 t and 2 t + 1 of row g, then of row g + 8.

/// d += a[16, 16] b[16, 8], bf16: of a the pairs of columns 2 t of rows g and g + 8, then 2 t + 8 of both; of b the
/// pairs of rows 2 t, then 2 t + 8, of column g.
__device__ __forceinline__ void warpProduct(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/// x rounded to the 10 bits of tf32.
__device__ __forceinline__ unsigned toTf32(float x) {
  unsigned result;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(x));
  return result;
}
/// d += a[16, 8] b[8, 8], tf32: of a column t of rows g and g + 8, then column t + 4 of both; of b rows t and t + 4 of
/// column g.
__device__ __forceinline__ void warpProductTf32(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Ordinary loads and stores of 16 bytes, or of 4, at an address in shared memory.

__device__ __forceinline__ uint4 loadShared16(SharedAddress address) {
  uint4 x;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "r"(address)
               : "memory");
  return x;
}
__device__ __forceinline__ void storeShared16(SharedAddress address, uint4 x) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w)
               : "memory");
}
__device__ __forceinline__ unsigned loadShared4(SharedAddress address) {
  unsigned x;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(address) : "memory");
  return x;
}
__device__ __forceinline__ void storeShared4(SharedAddress address, unsigned x) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(x) : "memory");
}

/// The warpgroup of this thread, the same in a warp as far as the compiler knows.
__device__ __forceinline__ int warpgroupIndex() {
  return __shfl_sync(0xFFFFFFFFu, static_cast<int>(threadIdx.x) / 128, 0);
}

// Registers. Each role of a block is one branch of one if and calls one of these at its start. A block has as many as
// it was launched with: takeRegisters waits until others have given enough, for ever if they do not.

template <int kRegisters> __device__ __forceinline__ void giveRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters> __device__ __forceinline__ void takeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// Products of a warpgroup (128 threads): d[64, N] = a[64, 16] b[16, N] + d in f32, a and b bf16.
//
// Fragments. Thread 32 w + 4 g + t has of d the rows 16 w + g and 16 w + g + 8, in each the columns 8 j + 2 t and the
// next: d[4 j], d[4 j + 1] of the first row, d[4 j + 2], d[4 j + 3] of the second. With a in registers, the pairs of
// columns (2 t, 2 t + 1) of both rows, then (2 t + 8, 2 t + 9) of both: so d of 16 columns, rounded, is an a.

/// Which of a tile's dimensions is next to each other in memory: the one summed over (K), or the other (M of a, N of
/// b).
enum class Major : int { K, MN };

/// Operand in shared memory, 16 deep in the summed dimension. The tile begins at `tile`, `panelBytes` from panel to
/// panel.
/// Major::K: rows are M or N, columns the summed dimension: begin 32 bytes further for the next 16 of a panel.
/// Major::MN: rows are the summed dimension: begin 2048 bytes further for the next 16; panels follow one another along
/// M or N.
template <Major kMajor, typename Address>
__device__ __forceinline__ unsigned long long operand(Address tile, unsigned panelBytes) {
  constexpr unsigned long long kSwizzle128 = 1ull << 62, kEightRows = 1024 >> 4;
  unsigned long long leading = kMajor == Major::K ? 1 : panelBytes >> 4;
  return kSwizzle128 | kEightRows << 32 | leading << 16 | (sharedAddress(tile) & 0x3FFFF) >> 4;
}
/// The operand that begins `bytes` further. The address is in the low word and never carries into the high one, which
/// stays a constant.
__device__ __forceinline__ unsigned long long advanced(unsigned long long operand, unsigned bytes) {
  return operand >> 32 << 32 | (static_cast<unsigned>(operand) + (bytes >> 4));
}

/// Before the first product after anything else wrote their registers.
__device__ __forceinline__ void beginProducts() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// Ends a group of products.
__device__ __forceinline__ void endProducts() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Until at most kPending groups are running.
template <int kPending = 0> __device__ __forceinline__ void waitProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
/// Keeps the compiler from moving uses of d across the beginning of products or the wait for them: call it before the
/// one and after the other.
template <int kCount> __device__ __forceinline__ void pin(float (&x)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    asm volatile("" : "+f"(x[i])::"memory");
}

// clang-format off
#define QRT_D4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define QRT_D8(d, i) QRT_D4(d, i), QRT_D4(d, i + 4)
#define QRT_D16(d, i) QRT_D8(d, i), QRT_D8(d, i + 8)
#define QRT_D32(d, i) QRT_D16(d, i), QRT_D16(d, i + 16)
#define QRT_D64(d, i) QRT_D32(d, i), QRT_D32(d, i + 32)
#define QRT_N8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define QRT_N16 QRT_N8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define QRT_N24 QRT_N16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define QRT_N32 QRT_N16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define QRT_N40 QRT_N32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define QRT_N64 QRT_N40 ", %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57"     \
    ", %58, %59, %60, %61, %62, %63"
#define QRT_N96 QRT_N64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"             \
    ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define QRT_N128 QRT_N96 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
    ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
// clang-format on

template <int kColumns> struct WarpgroupProduct;

// `numbers` are those of d, a0 to a6 those of the operands after it: a, b, whether d is added to, the majors of a and
// b; or four registers of a, b, whether d is added to, the major of b. Last the registers of d.
#define QRT_PRODUCT(columns, numbers, a0, a1, a2, a3, a4, a5, a6, ...)                                                 \
  template <> struct WarpgroupProduct<columns> {                                                                       \
    template <Major kA, Major kB>                                                                                      \
    static __device__ __forceinline__ void run(float (&d)[columns / 2], unsigned long long a, unsigned long long b,    \
                                               int add) {                                                              \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " a2 ", 0;\n"                                                     \
                   "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.bf16.bf16 {" numbers "}, " a0 ", " a1         \
                   ", p, 1, 1, " a3 ", " a4 ";\n}\n"                                                                   \
                   : __VA_ARGS__                                                                                       \
                   : "l"(a), "l"(b), "r"(add), "n"(static_cast<int>(kA)), "n"(static_cast<int>(kB)));                  \
    }                                                                                                                  \
    template <Major kB>                                                                                                \
    static __device__ __forceinline__ void run(float (&d)[columns / 2], const unsigned *a, unsigned long long b,       \
                                               int add) {                                                              \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " a5 ", 0;\n"                                                     \
                   "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.bf16.bf16 {" numbers "}, {" a0 ", " a1        \
                   ", " a2 ", " a3 "}, " a4 ", p, 1, 1, " a6 ";\n}\n"                                                  \
                   : __VA_ARGS__                                                                                       \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add), "n"(static_cast<int>(kB)));         \
    }                                                                                                                  \
  };
// clang-format off
QRT_PRODUCT(16, QRT_N8, "%8", "%9", "%10", "%11", "%12", "%13", "%14", QRT_D8(d, 0))
QRT_PRODUCT(32, QRT_N16, "%16", "%17", "%18", "%19", "%20", "%21", "%22", QRT_D16(d, 0))
QRT_PRODUCT(48, QRT_N24, "%24", "%25", "%26", "%27", "%28", "%29", "%30", QRT_D16(d, 0), QRT_D8(d, 16))
QRT_PRODUCT(64, QRT_N32, "%32", "%33", "%34", "%35", "%36", "%37", "%38", QRT_D32(d, 0))
QRT_PRODUCT(80, QRT_N40, "%40", "%41", "%42", "%43", "%44", "%45", "%46", QRT_D32(d, 0), QRT_D8(d, 32))
QRT_PRODUCT(128, QRT_N64, "%64", "%65", "%66", "%67", "%68", "%69", "%70", QRT_D64(d, 0))
QRT_PRODUCT(256, QRT_N128, "%128", "%129", "%130", "%131", "%132", "%133", "%134", QRT_D64(d, 0), QRT_D64(d, 64))
// clang-format on

/// d[64, kColumns] = a b, or += where `add` is not zero; a and b in shared memory.
template <int kColumns, Major kA, Major kB>
__device__ __forceinline__ void product(float (&d)[kColumns / 2], unsigned long long a, unsigned long long b, int add) {
  WarpgroupProduct<kColumns>::template run<kA, kB>(d, a, b, add);
}
/// The same with a in registers: four pairs of bf16, which stay as they are until the product is waited for.
template <int kColumns, Major kB>
__device__ __forceinline__ void product(float (&d)[kColumns / 2], const unsigned *a, unsigned long long b, int add) {
  WarpgroupProduct<kColumns>::template run<kB>(d, a, b, add);
}

/// Where in a panel the element at `row` and `column` (below 64) lies, in bytes.
__device__ __forceinline__ unsigned panelOffset(unsigned row, unsigned column) {
  return row * 128 + ((column / 8 ^ row % 8) * 16 | column % 8 * 2);
}

} // namespace qrt::device

#endif // RUNTIME_BACKENDS_CUDA_DEVICE_HOPPER_CUH
