// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/kernels/Signature.h"

#include "runtime/base/SegmentTable.h"
#include "runtime/kernels/Expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace qrt {
namespace {

/// Cuts `text` at the first `separator`: returns what stands before it and leaves what stands after.
std::string_view nextItem(std::string_view &text, char separator) {
  size_t end = std::min(text.find(separator), text.size());
  std::string_view item = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return item;
}

constexpr std::pair<std::string_view, IndexKind> kIndexTypes[] = {
    {"docs", IndexKind::Segments}, {"ids", IndexKind::Ids}, {"order", IndexKind::Order}, {"labels", IndexKind::Labels}};

/// The kind that an element type of the catalog names.
IndexKind indexKindNamed(std::string_view name) {
  for (auto [type, kind] : kIndexTypes)
    if (name == type)
      return kind;
  return IndexKind::None;
}

/// One call on its way through the catalog's list: what the names of the types stand for so far.
class CallChecker {
public:
  CallChecker(Kernel kernel, ArgShapes args, std::span<const ArgEffect> effects, std::span<const ParamValue> params,
              const BucketShape &bucket, const Expression *expression)
      : kernel_(kernel), info_(kernelInfo(kernel)), args_(args), effects_(effects), params_(params), bucket_(bucket),
        expression_(expression) {}

  Status run() {
    QRT_RETURN_IF_ERROR(checkCounts());
    for (size_t i = 0; i < args_.size(); ++i) {
      QRT_RETURN_IF_ERROR(checkEffect(i));
      if (args_[i])
        QRT_RETURN_IF_ERROR(checkType(i));
    }
    QRT_RETURN_IF_ERROR(checkParams());
    return checkKernel();
  }

private:
  /// A name of the catalog and the extents it stands for: one, or those of `name...`.
  struct Binding {
    std::string_view name;
    int rank;
    int64_t dims[4];
  };

  const ArgInfo &arg(size_t i) const { return info_.arg(i); }
  bool isVariadic() const { return !info_.args.empty() && info_.args.back().effect == ArgEffect::ReadVariadic; }

  template <typename... Args> Status fail(fmt::format_string<Args...> format, Args &&...args) const {
    return error(StatusCode::InvalidData, format, std::forward<Args>(args)...);
  }

  Status checkCounts() {
    size_t fixed = info_.args.size() - isVariadic();
    if (isVariadic() ? args_.size() < fixed : args_.size() != fixed)
      return fail("expected {}{} arguments, got {}", isVariadic() ? "at least " : "", fixed, args_.size());
    size_t params = info_.params.size();
    if (info_.hasParamList ? params_.size() < params : params_.size() != params)
      return fail("expected {}{} parameters, got {}", info_.hasParamList ? "at least " : "", params, params_.size());
    return Status();
  }

  Status checkEffect(size_t i) {
    ArgEffect declared = arg(i).effect, given = effects_[i];
    if (!args_[i])
      return isOptional(declared) ? Status() : fail("argument '{}' is missing", arg(i).name);
    bool fits = false;
    switch (declared) {
    case ArgEffect::Read:
    case ArgEffect::ReadOptional:
    case ArgEffect::ReadVariadic:
    case ArgEffect::ReadUpdated:
      fits = given == ArgEffect::Read;
      break;
    case ArgEffect::Write:
    case ArgEffect::WriteOptional:
      fits = given == ArgEffect::Write;
      break;
    case ArgEffect::InOut:
    case ArgEffect::InOutOptional:
      fits = given == ArgEffect::InOut;
      break;
    case ArgEffect::Accumulate:
    case ArgEffect::AccumulateOptional:
      fits = given == ArgEffect::Write || given == ArgEffect::InOut;
      break;
    }
    if (fits)
      return Status();
    auto name = [](ArgEffect effect) -> std::string_view {
      switch (effect) {
      case ArgEffect::Read:
      case ArgEffect::ReadOptional:
      case ArgEffect::ReadVariadic:
      case ArgEffect::ReadUpdated:
        return "read";
      case ArgEffect::InOut:
      case ArgEffect::InOutOptional:
        return "inout";
      case ArgEffect::Accumulate:
      case ArgEffect::AccumulateOptional:
        return "write or inout";
      case ArgEffect::Write:
      case ArgEffect::WriteOptional:
        break;
      }
      return "write";
    };
    return fail("argument '{}': expected {}, got {}", arg(i).name, name(declared), name(given));
  }

  Status mismatch(size_t i) const {
    std::string expected(arg(i).type);
    for (int b = 0; b < numBindings_; ++b) {
      const Binding &binding = bindings_[b];
      expected += fmt::format("{} {} = {}", b == 0 ? " with" : ",", binding.name,
                              fmt::join(binding.dims, binding.dims + binding.rank, "x"));
    }
    if (md_)
      expected += fmt::format(", md = {}", dtypeName(*md_));
    return fail("argument '{}': expected {}, got {}", arg(i).name, expected, printShape(*args_[i]));
  }

  Status checkType(size_t i) {
    const TensorShape &shape = *args_[i];
    std::string_view type = arg(i).type;
    if (type == "docs") {
      int64_t size = SegmentLayout{bucket_}.size();
      if (bucket_.tokens < 1)
        return fail("argument '{}': an entry without a bucket has no segment table", arg(i).name);
      if (shape.dtype != DType::I32 || shape.rank != 1 || shape.dims[0] != size)
        return fail("argument '{}': expected the segment table of bucket {}, i32[{}], got {}", arg(i).name,
                    printBucket(bucket_), size, printShape(shape));
      return Status();
    }
    std::string_view dtypes = nextItem(type, '[');
    type.remove_suffix(1);
    if (!matchesDType(dtypes, shape.dtype) || !matchesDims(type, shape))
      return mismatch(i);
    return Status();
  }

  bool matchesDType(std::string_view alternatives, DType dtype) {
    while (!alternatives.empty()) {
      std::string_view name = nextItem(alternatives, '|');
      if (name != "md") {
        if (name == dtypeName(dtype) || (dtype == DType::I32 && indexKindNamed(name) != IndexKind::None))
          return true;
        continue;
      }
      if (!md_ && (dtype == DType::F32 || dtype == DType::BF16))
        md_ = dtype;
      if (md_ == dtype)
        return true;
    }
    return false;
  }

  bool matchesDims(std::string_view names, const TensorShape &shape) {
    if (names == "any")
      return true;
    int axis = 0;
    while (!names.empty()) {
      std::string_view name = nextItem(names, ',');
      int rank = 1;
      if (name.ends_with("...")) {
        name.remove_suffix(3);
        rank = shape.rank - axis;
      }
      if (axis + rank > shape.rank)
        return false;
      if (!matchesDim(name, shape.dims + axis, rank))
        return false;
      axis += rank;
    }
    return axis == shape.rank;
  }

  bool matchesDim(std::string_view name, const int64_t *dims, int rank) {
    if (name[0] >= '0' && name[0] <= '9') {
      int64_t number = 0;
      std::from_chars(name.data(), name.data() + name.size(), number);
      return *dims == number;
    }
    for (int b = 0; b < numBindings_; ++b)
      if (bindings_[b].name == name)
        return bindings_[b].rank == rank && std::equal(dims, dims + rank, bindings_[b].dims);
    assert(numBindings_ < static_cast<int>(bindings_.size()) && "a kernel with more names than expected");
    Binding &binding = bindings_[numBindings_++];
    binding.name = name;
    binding.rank = rank;
    std::copy(dims, dims + rank, binding.dims);
    return true;
  }

  /// The extent that `name` stands for; 0 if no argument present has it.
  int64_t dim(std::string_view name) const {
    for (int b = 0; b < numBindings_; ++b)
      if (bindings_[b].name == name)
        return bindings_[b].dims[0];
    return 0;
  }

  /// The argument of this name, null if it is absent.
  const TensorShape *find(std::string_view name) const {
    for (size_t i = 0; i < info_.args.size(); ++i)
      if (info_.args[i].name == name)
        return args_[i] ? &*args_[i] : nullptr;
    return nullptr;
  }

  Status checkParams() {
    for (size_t i = 0; i < info_.params.size(); ++i)
      if (info_.params[i].type == ParamType::Float && !(std::isfinite(params_[i].f) && params_[i].f > 0))
        return fail("parameter '{}': expected a positive number, got {}", info_.params[i].name, params_[i].f);
    return Status();
  }

  /// Whether a multiple of `divisor`, both at least 1.
  Status expectMultiple(std::string_view name, std::string_view divisor) const {
    if (dim(name) % dim(divisor) == 0)
      return Status();
    return fail("expected {} to be a multiple of {}, got {} and {}", name, divisor, dim(name), dim(divisor));
  }

  Status expectTogether(std::string_view name, std::string_view other) const {
    if ((find(name) != nullptr) == (find(other) != nullptr))
      return Status();
    return fail("expected both of '{}' and '{}' or none, got one", name, other);
  }

  Status checkKernel() {
    if (!info_.args.empty() && info_.args[0].type == "docs") {
      if (dim("T") != 0 && dim("T") != bucket_.tokens)
        return fail("expected T, the tokens of the bucket, to be {}, got {}", bucket_.tokens, dim("T"));
      if (dim("R") != 0 && dim("R") != bucket_.trained)
        return fail("expected R, the trained rows of the bucket, to be {}, got {}", bucket_.trained, dim("R"));
    }
    if (expression_ && kernel_ != Kernel::Pointwise)
      return fail("only calls of pointwise have an expression");
    switch (kernel_) {
    case Kernel::Pointwise:
      return checkPointwise();
    case Kernel::GatedDeltaInputs:
    case Kernel::GatedDeltaInputsGrad: {
      QRT_RETURN_IF_ERROR(expectMultiple("W", "K"));
      int64_t qk, v, channels;
      bool overflows = __builtin_mul_overflow(dim("K"), dim("dk"), &qk) || __builtin_mul_overflow(qk, 2, &qk) ||
                       __builtin_mul_overflow(dim("W"), dim("dv"), &v) || __builtin_add_overflow(qk, v, &channels);
      if (overflows || channels != dim("C"))
        return fail("expected C = 2*K*dk + W*dv, got C = {}, K = {}, dk = {}, W = {}, dv = {}", dim("C"), dim("K"),
                    dim("dk"), dim("W"), dim("dv"));
      return Status();
    }
    case Kernel::GatedDeltaRule:
    case Kernel::GatedDeltaRuleGrad:
      return expectMultiple("W", "K");
    case Kernel::QkNormRope:
    case Kernel::QkNormRopeGrad: {
      int64_t rotary = params_[2].i;
      if (rotary < 2 || rotary % 2 != 0 || rotary > dim("D"))
        return fail("parameter 'rotary_dims': expected an even number from 2 to D = {}, got {}", dim("D"), rotary);
      return Status();
    }
    case Kernel::Attention:
      QRT_RETURN_IF_ERROR(expectMultiple("H", "G"));
      if (find("o") && !find("gate"))
        return fail("argument 'o' comes only with a gate");
      return Status();
    case Kernel::AttentionGrad:
      QRT_RETURN_IF_ERROR(expectMultiple("H", "G"));
      return expectTogether("gate", "dgate");
    case Kernel::GatherRows: {
      const TensorShape &x = *find("x"), &out = *find("out");
      int rank = x.dtype == DType::I32 ? 1 : 2;
      if (x.dtype != out.dtype || x.rank != rank)
        return fail("expected md[T, h] to md[R, h], or i32[T] to i32[R], got {} to {}", printShape(x), printShape(out));
      return Status();
    }
    case Kernel::AdamW:
      return checkAdamW();
    default:
      return Status();
    }
  }

  Status checkPointwise() {
    constexpr size_t kResults = kMaxExpressionResults;
    if (!expression_)
      return fail("expected an expression, got none");
    int64_t results = 0;
    for (size_t i = 0; i < kResults; ++i)
      if (args_[i] && static_cast<int64_t>(i) != results++)
        return fail("argument '{}': expected results from the first on, got one after an absent one", arg(i).name);
    const TensorShape &shape = *args_[0];
    for (size_t i = kResults; i < args_.size(); ++i) {
      const TensorShape &input = *args_[i];
      bool fits = input.rank <= shape.rank;
      for (int axis = 0; fits && axis < input.rank; ++axis)
        fits = input.dims[axis] == 1 || input.dims[axis] == shape.dims[axis + shape.rank - input.rank];
      if (!fits)
        return fail("argument 'inputs': expected the last dimensions of {}, or 1 in their place, got {}",
                    printShape(shape), printShape(input));
    }
    return checkExpression(*expression_, static_cast<int64_t>(args_.size() - kResults), results);
  }

  Status checkAdamW() {
    const TensorShape &weight = *find("weight");
    if (find("master") && weight.dtype != DType::BF16)
      return fail("a master comes with a bf16 weight, got {}", printShape(weight));
    // Elements are numbered through all of the tensor.
    for (std::string_view name : {"gradient", "weight", "exp_avg", "exp_avg_sq", "master"})
      if (const TensorShape *shape = find(name); shape && !isDense(*shape))
        return fail("argument '{}': expected a tensor without gaps", name);
    if (params_[0].i != 0 && params_[0].i != 1)
      return fail("parameter 'decay': expected 0 or 1, got {}", params_[0].i);
    std::span<const ParamValue> members = params_.subspan(1);
    int64_t left = weight.elements();
    for (size_t i = 1; i < members.size(); i += 2) {
      if (members[i].i < 1 || members[i].i > left)
        return fail("parameters 'members': expected the elements of the members to sum up to {}", weight.elements());
      left -= members[i].i;
    }
    if (members.empty() || members.size() % 2 != 0 || left != 0)
      return fail("parameters 'members': expected pairs whose elements sum up to {}, got {} numbers with {} missing",
                  weight.elements(), members.size(), left);
    return Status();
  }

  Kernel kernel_;
  const KernelInfo &info_;
  ArgShapes args_;
  std::span<const ArgEffect> effects_;
  std::span<const ParamValue> params_;
  const BucketShape &bucket_;
  const Expression *expression_;
  std::optional<DType> md_;
  std::array<Binding, 8> bindings_;
  int numBindings_ = 0;
};

} // namespace

Status checkCall(Kernel kernel, ArgShapes args, std::span<const ArgEffect> effects, std::span<const ParamValue> params,
                 const BucketShape &bucket, const Expression *expression) {
  assert(args.size() == effects.size() && "an effect for each argument");
  return CallChecker(kernel, args, effects, params, bucket, expression).run();
}

IndexKind indexKind(const ArgInfo &arg, DType dtype) {
  if (dtype != DType::I32)
    return IndexKind::None;
  std::string_view type = arg.type, alternatives = nextItem(type, '[');
  while (!alternatives.empty())
    if (IndexKind kind = indexKindNamed(nextItem(alternatives, '|')); kind != IndexKind::None)
      return kind;
  return IndexKind::None;
}

std::string printShape(const TensorShape &shape) {
  return fmt::format("{}[{}]", dtypeName(shape.dtype), fmt::join(shape.dims, shape.dims + shape.rank, ", "));
}

} // namespace qrt
