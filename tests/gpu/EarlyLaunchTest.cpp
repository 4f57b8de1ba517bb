// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches that begin before the works before them have ended (PreparedLaunch.h): which edges of a graph are
// programmatic, and that every work sees what all before it wrote.
#include "runtime/backends/cuda/GemmTuner.h"
#include "runtime/backends/cuda/Graph.h"
#include "runtime/backends/cuda/plan/Plans.h"
#include "tests/gpu/DeviceHarness.h"

using namespace qrt;
using namespace qrt::cuda;
using namespace qrt::cuda::test;

namespace {

constexpr int64_t kWidth = 64;

/// f32[rows, kWidth] on the GPU.
class Rows {
public:
  explicit Rows(int64_t rows) : shape_(denseShape(DType::F32, std::array{rows, kWidth})) {
    if (compileOnly())
      return;
    StatusOr<DeviceMemory> memory = gpu().allocate(rows * kWidth * byteSize(DType::F32));
    require(memory.status());
    memory_ = *std::move(memory);
  }

  int64_t count() const { return shape_.dims[0]; }
  /// Rows [begin, end).
  Tensor part(int64_t begin, int64_t end) const {
    Tensor part{shape_, memory_.data() + static_cast<DevicePtr>(begin * kWidth * byteSize(DType::F32))};
    part.shape.dims[0] = end - begin;
    return part;
  }
  Tensor all() const { return part(0, count()); }
  void write(const std::vector<float> &values) const {
    require(gpu().write(memory_.data(), std::as_bytes(std::span(values))));
  }
  std::vector<float> read() const {
    std::vector<float> values(static_cast<size_t>(shape_.elements()));
    require(gpu().read(memory_.data(), std::as_writable_bytes(std::span(values))));
    return values;
  }

private:
  TensorShape shape_;
  DeviceMemory memory_;
};

/// Compiles what the tests launch, where nothing can run.
bool compiledOnly() {
  if (!compileOnly())
    return false;
  HostTensor from(DType::F32, {64, kWidth}), to = from;
  runOnDevice({&from, &to}, {1},
              [](std::span<const Tensor> x, KernelPlan &plan) { return planCopy(x[0], x[1], plan); });
  return true;
}

PreparedWorks prepare(const KernelPlan &plan) {
  StatusOr<PreparedWorks> works = PreparedWorks::prepare(deviceWorks(), plan.works());
  require(works.status());
  return *std::move(works);
}

struct Edges {
  size_t programmatic = 0, full = 0;
};

/// Of a graph in which `record` puts works on the stream, and which `edit` changes.
template <typename Record> Edges edgesOf(Record record, Status (*edit)(const WorkContext &, CUgraph) = nullptr) {
  const Driver &driver = gpu().driver();
  require(driver.check(driver->cuStreamBeginCapture(gpu().stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "capture"));
  record();
  CUgraph graph = nullptr;
  require(driver.check(driver->cuStreamEndCapture(gpu().stream(), &graph), "capture"));
  if (edit)
    require(edit(deviceWorks(), graph));
  size_t count = 0;
  require(driver.check(driver->cuGraphGetNodes(graph, nullptr, &count), "nodes"));
  std::vector<CUgraphNode> nodes(count);
  require(driver.check(driver->cuGraphGetNodes(graph, nodes.data(), &count), "nodes"));
  Edges edges;
  for (CUgraphNode node : nodes) {
    // In a row of works each waits for at most one.
    CUgraphNode from[2];
    CUgraphEdgeData data[2];
    size_t before = 2;
    require(driver.check(driver->cuGraphNodeGetDependencies(node, from, data, &before), "edges"));
    EXPECT_LE(before, 1U);
    for (const CUgraphEdgeData &edge : std::span(data, before)) {
      bool programmatic = edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
      EXPECT_EQ(edge.from_port,
                programmatic ? CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC : CU_GRAPH_KERNEL_NODE_PORT_DEFAULT);
      ++(programmatic ? edges.programmatic : edges.full);
    }
  }
  driver->cuGraphDestroy(graph);
  return edges;
}

} // namespace

TEST(EarlyLaunch, IsThatOfAKernelAfterAKernel) {
  if (compiledOnly())
    return;
  Rows a(64), b(64), c(64);
  KernelPlan copy(0), fill(0), product(0);
  require(planCopy(a.all(), b.all(), copy));
  require(planZero(b.all(), fill));
  product.gemm({a.all(), b.all(), c.all(), false, true, false});
  PreparedWorks copies = prepare(copy), fills = prepare(fill), products = prepare(product);
  GemmTuner tuner(gpu(), "");
  for (PreparedWorks::Work &work : products.works())
    require(tuner.choose(deviceWorks(), std::array{&std::get<PreparedGemm>(work)}, Choosing::Quickly, 0, 0));
  Events events(gpu().driver());
  require(events.create(1));
  auto launch = [](const PreparedWorks &works) { require(works.launch(deviceWorks(), gpu().stream())); };

  Edges edges = edgesOf([&] { launch(copies), launch(copies), launch(copies); });
  EXPECT_EQ(std::pair(edges.programmatic, edges.full), std::pair(size_t{2}, size_t{0}));
  edges = edgesOf([&] { launch(copies), launch(fills), launch(copies), launch(fills); });
  EXPECT_EQ(std::pair(edges.programmatic, edges.full), std::pair(size_t{0}, size_t{3})) << "a fill is no kernel";
  edges = edgesOf([&] { launch(copies), require(events.recordInGraph(0, gpu().stream())), launch(copies); });
  EXPECT_EQ(edges.programmatic, 0U) << "a mark is no kernel";
  edges = edgesOf([&] { launch(copies), launch(products), launch(copies); });
  EXPECT_EQ(edges.programmatic, 1U) << "a library's kernel does not wait as ours do, but ours wait for it";
  EXPECT_GE(edges.full, 1U);
}

// Each round moves all rows one place on, in two copies; a copy of a row between them, of one block, stands between the
// rows that are written and those that read them. Whoever reads too early finds a row of an earlier round.
TEST(EarlyLaunch, SeesWhatAllWorksBeforeItWrote) {
  if (compiledOnly())
    return;
  // One block; two for each multiprocessor; more than the GPU holds.
  for (int64_t rows : {64, 16896, 200000}) {
    constexpr int kRounds = 100;
    Rows a(rows), b(rows), aside(2);
    aside.write(std::vector<float>(2 * kWidth));
    KernelPlan plan(0);
    for (int round = 0; round < kRounds; ++round) {
      const Rows &from = round % 2 ? b : a, &to = round % 2 ? a : b;
      require(planCopy(from.part(1, rows), to.part(0, rows - 1), plan));
      require(planCopy(aside.part(0, 1), aside.part(1, 2), plan));
      require(planCopy(from.part(0, 1), to.part(rows - 1, rows), plan));
    }
    PreparedWorks works = prepare(plan);
    Graph graph;
    require(graph.capture(deviceWorks(), gpu().stream(), [&] { return works.launch(deviceWorks(), gpu().stream()); }));
    std::vector<float> values(static_cast<size_t>(rows * kWidth));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i / kWidth);
    a.write(values);
    constexpr int kReplays = 20;
    for (int i = 0; i < kReplays; ++i)
      require(graph.launch(gpu().stream()));
    require(gpu().synchronize());
    std::vector<float> got = a.read();
    int64_t wrong = 0, first = -1;
    for (int64_t i = 0; i < rows * kWidth; ++i) {
      auto expected = static_cast<float>((i / kWidth + kRounds * kReplays) % rows);
      if (got[static_cast<size_t>(i)] != expected && wrong++ == 0)
        first = i / kWidth;
    }
    EXPECT_EQ(wrong, 0) << "of " << rows << " rows of " << kWidth << ", the first in row " << first;
  }
}

TEST(GraphFills, OfSmallSizesAreLaunches) {
  if (compiledOnly())
    return;
  Rows a(64), b(64);
  std::vector<float> ones(64 * kWidth, 1.0F);
  a.write(ones);
  // In the middle of b: rows 3 and 4.
  KernelPlan copy(0), fill(0);
  require(planCopy(a.all(), b.all(), copy));
  require(planZero(b.part(3, 5), fill));
  PreparedWorks copies = prepare(copy), fills = prepare(fill);
  auto record = [&]() -> Status {
    QRT_RETURN_IF_ERROR(copies.launch(deviceWorks(), gpu().stream()));
    return fills.launch(deviceWorks(), gpu().stream());
  };
  Graph graph;
  require(graph.capture(deviceWorks(), gpu().stream(), record));
  require(graph.launch(gpu().stream()));
  require(gpu().synchronize());
  std::vector<float> got = b.read();
  for (int64_t i = 0; i < 64 * kWidth; ++i)
    ASSERT_EQ(got[static_cast<size_t>(i)], i / kWidth == 3 || i / kWidth == 4 ? 0.0F : 1.0F) << i;

  Edges edges = edgesOf(
      [&] {
        require(record());
        require(copies.launch(deviceWorks(), gpu().stream()));
      },
      launchSmallFills);
  EXPECT_EQ(std::pair(edges.programmatic, edges.full), std::pair(size_t{1}, size_t{1}))
      << "the launch after a fill was made to wait for all of it";
}
