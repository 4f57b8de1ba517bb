// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/backends/cuda/device/Pointwise.h"

#include "runtime/backends/cuda/plan/Plans.h"

#include <array>
#include <bit>
#include <fmt/format.h>

namespace qrt::cuda {
namespace {

static_assert(device::kPointwiseTensors == kMaxExpressionInputs + kMaxExpressionResults);

/// The inputs, then the results, with the dimensions of the results and a stride of 0 where one is repeated. Dimensions
/// that lie one behind the other in all of them are one, as long as it has less than 2^31 elements: the device counts
/// the elements of a row in 32 bits.
class CommonDims {
public:
  explicit CommonDims(const Call &call) {
    for (const Tensor &tensor : call.args.subspan(kMaxExpressionResults))
      tensors_.push_back(&tensor);
    for (const Tensor &tensor : call.args.first(kMaxExpressionResults))
      if (tensor)
        tensors_.push_back(&tensor);
    const TensorShape &shape = call.args[0].shape;
    for (int axis = 0; axis < shape.rank; ++axis)
      add(shape, axis);
    if (dims_.empty())
      add(denseShape(DType::F32, std::array<int64_t, 1>{1}), 0);
  }

  const std::vector<const Tensor *> &tensors() const { return tensors_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int axis) const { return dims_[static_cast<size_t>(axis)]; }
  int64_t cols() const { return dims_.back(); }
  int64_t stride(size_t tensor, int axis) const { return strides_[static_cast<size_t>(axis)][tensor]; }
  bool isRepeated(size_t tensor) const { return stride(tensor, rank() - 1) == 0; }

  /// Whether the tensor is in pieces of `width` elements, on 16 bytes each.
  bool hasPieces(size_t tensor, int64_t width) const {
    if (isRepeated(tensor))
      return true;
    int64_t size = byteSize(tensors_[tensor]->shape.dtype);
    bool fits = tensors_[tensor]->data % 16 == 0 && cols() % width == 0;
    for (int axis = 0; axis < rank() - 1; ++axis)
      fits &= stride(tensor, axis) * size % 16 == 0;
    return fits;
  }

private:
  void add(const TensorShape &shape, int axis) {
    int64_t dim = shape.dims[axis];
    bool last = axis == shape.rank - 1;
    std::vector<int64_t> strides;
    for (const Tensor *tensor : tensors_) {
      int its = axis - (shape.rank - tensor->shape.rank);
      bool missing = its < 0 || (tensor->shape.dims[its] == 1 && dim != 1);
      // The last dimension has no gaps; where it is one element its stride says nothing.
      strides.push_back(missing ? (dim == 1 ? 1 : 0) : last ? 1 : tensor->stride(its));
    }
    if (dim == 1 && !last)
      return;
    bool joins = !dims_.empty() && dims_.back() * dim <= INT32_MAX;
    for (size_t i = 0; joins && i < strides.size(); ++i)
      joins = strides_.back()[i] == dim * strides[i];
    if (joins) {
      dims_.back() *= dim;
      strides_.back() = std::move(strides);
      return;
    }
    dims_.push_back(dim);
    strides_.push_back(std::move(strides));
  }

  std::vector<const Tensor *> tensors_;
  std::vector<int64_t> dims_;
  std::vector<std::vector<int64_t>> strides_; // of each dimension, by tensor
};

/// A step as Pointwise.cuh has it: "Mul<2, 1>", "Scale<3, 0x3f000000u>".
std::string printStep(const ExpressionStep &step) {
  static constexpr std::string_view kNames[] = {
#define QRT_EXPRESSION_OP(Name, text, operands, flops) #Name,
#include "runtime/kernels/expression.def"
  };
  const ExpressionOpInfo &info = expressionOpInfo(step.op);
  std::string text = fmt::format("{}<{}", kNames[static_cast<int>(step.op)], step.a);
  if (info.operands == 2)
    text += fmt::format(", {}", step.b);
  if (info.hasConstant)
    text += fmt::format(", {:#010x}u", std::bit_cast<uint32_t>(static_cast<float>(step.constant)));
  return text + ">";
}

/// Elements of a piece: as many as make 16 bytes in the smallest type, where all tensors have such pieces; else 1,
/// which is for small models: an error where the rows of the results are long (those of the call: how many rows lie one
/// behind the other says nothing of the model).
StatusOr<int64_t> widthOf(const Call &call, const CommonDims &dims) {
  constexpr int64_t kMostSingles = 1024;
  const TensorShape &shape = call.args[0].shape;
  int64_t row = shape.rank ? shape.dims[shape.rank - 1] : 1;
  int64_t width = 4;
  for (size_t i = 0; i < dims.tensors().size(); ++i)
    if (!dims.isRepeated(i) && dims.tensors()[i]->shape.dtype == DType::BF16)
      width = 8;
  for (size_t i = 0; i < dims.tensors().size(); ++i) {
    if (dims.hasPieces(i, width))
      continue;
    if (row > kMostSingles)
      return error(StatusCode::Unsupported,
                   "{}: rows of {} elements: expected them to start on 16 bytes in every argument and to be a multiple "
                   "of {} elements long",
                   kernelInfo(call.kernel).name, row, width);
    return 1;
  }
  return width;
}

} // namespace

Status planPointwise(const Call &call, KernelPlan &plan) {
  const Expression &expression = *call.expression;
  if (call.args[0].shape.elements() == 0)
    return Status();
  CommonDims dims(call);
  QRT_ASSIGN_OR_RETURN(int64_t width, widthOf(call, dims));

  size_t inputs = dims.tensors().size() - expression.results.size();
  // More pieces in flight where there are few inputs, as far as registers go.
  int64_t units = inputs <= 3 ? 2 : 1;
  int64_t pieces = dims.cols() / width, sizes[4] = {1, 1, 1, pieces};
  for (int axis = dims.rank() - 2, to = 2; axis >= 0; --axis, --to)
    pieces *= sizes[to] = dims.dim(axis);
  // Numbers of pieces are 32-bit, and divided exactly below 2^31.
  if (pieces + device::kPointwiseThreads * units >= int64_t{1} << 31)
    return error(StatusCode::Unsupported, "{}: {} elements in pieces of {}: expected less than 2^31 pieces",
                 kernelInfo(call.kernel).name, call.args[0].shape.elements(), width);

  device::PointwiseParams params{};
  params.pieces = static_cast<unsigned>(pieces);
  for (int axis = 1; axis < 4; ++axis)
    params.dims[axis - 1] = divisorOf(sizes[axis]);
  std::string reads, writes, steps;
  for (size_t i = 0; i < dims.tensors().size(); ++i) {
    const Tensor &tensor = *dims.tensors()[i];
    device::PointwiseTensor &out = params.tensors[i];
    out.data = tensor.data;
    for (int axis = dims.rank() - 2, to = 2; axis >= 0; --axis, --to)
      out.strides[to] = dims.stride(i, axis);
    std::string_view type = deviceType(tensor.shape.dtype);
    if (i < inputs)
      reads += fmt::format("{}{}<{}>", i ? ", " : "", dims.isRepeated(i) ? "Repeated" : "Element", type);
    else
      writes += fmt::format("{}Result<{}, {}>", i > inputs ? ", " : "", type, expression.results[i - inputs]);
  }
  for (const ExpressionStep &step : expression.steps)
    steps += ", " + printStep(step);
  plan.launch("Pointwise.cuh",
              fmt::format("pointwise<{}, {}, Reads<{}>, Writes<{}>{}>", width, units, reads, writes, steps),
              {ceilDiv(pieces, device::kPointwiseThreads * units)}, {device::kPointwiseThreads}, 0, params);
  return Status();
}

} // namespace qrt::cuda
