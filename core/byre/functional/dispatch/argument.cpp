// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/dispatch/argument.hpp>
#include <byre/tensor/detail/float_environment.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <complex>
#include <new>

namespace byre::inline BYRE_ABI::functional {
namespace {

/// Returns the shortest text that parses as the floating-point number `value`, not as an integer.
template <class Number>
std::string to_text(Number value) {
  std::array<char, 64> chars;
  const byre::detail::DefaultFloatEnvironment environment;
  const auto [end, error] = std::to_chars(chars.data(), chars.data() + chars.size(), value);
  std::string text(chars.data(), end);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

struct ToString {
  std::string operator()(NoValue) const { return "none"; }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(double number) const { return to_text(number); }
  std::string operator()(std::complex<float> number) const {
    return "complex(" + to_text(number.real()) + ", " + to_text(number.imag()) + ")";
  }
  std::string operator()(const Scalar& number) const { return number.visit_held(*this); }
  std::string operator()(const Dims& dims) const { return byre::to_string(dims); }
  std::string operator()(DType dtype) const { return byre::name_of(dtype); }
};

struct Describe : ToString {
  using ToString::operator();
  std::string operator()(const Scalar& number) const {
    return (number.as_integer() != nullptr ? "int " : "Scalar ") + ToString()(number);
  }
  std::string operator()(const Dims& dims) const { return "int[] " + ToString()(dims); }
  std::string operator()(DType dtype) const { return "DType " + ToString()(dtype); }
  std::string operator()(bool flag) const { return "bool " + ToString()(flag); }
  std::string operator()(const AnyTensor& tensor) const {
    return (tensor ? "Tensor " : "") + describe(tensor);
  }
  std::string operator()(const Tensors& tensors) const {
    std::string text = "Tensor[] of " + std::to_string(tensors.size());
    const auto none = std::find(tensors.begin(), tensors.end(), AnyTensor());
    if (none != tensors.end()) {
      text += " with no tensor at index " + std::to_string(none - tensors.begin());
    }
    return text;
  }
};

}  // namespace

AnyTensor TensorImpl::to_rebind(const AnyTensor&) const {
  throw DispatchError(
      format_text("cannot write or rebind a tensor of %s. Return the new value from the program.",
                  to_string(keys()).c_str()));
}

void TensorImpl::rebind(TensorImpl&) noexcept {
  BYRE_ASSERT(false, "rebind() got a tensor that to_rebind() did not return");
}

std::int64_t AnyTensor::numel() const {
  return byre::detail::element_count(sizes(), "numel");
}

void Argument::refuse_to_read(const char* as) const {
  throw MisreadArgument(
      format_text("cannot read the argument %s as %s. Read each argument by its type in the "
                  "schema, or test is_none() and get<T>() first.",
                  describe(*this).c_str(), as));
}

std::string to_string(const Constant& constant) try {
  return std::visit(ToString(), constant);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_string");
}

std::string to_string(const Scalar& number) try {
  return ToString()(number);
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("to_string");
}

std::string describe(const Argument& argument) try {
  return std::visit(Describe(), argument.held());
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("describe");
}

std::string describe(const AnyTensor& tensor) try {
  return tensor ? byre::name_of(tensor.dtype()) + byre::to_string(tensor.sizes()) : "no tensor";
} catch (const std::bad_alloc&) {
  throw OutOfMemory::of_heap("describe");
}

}  // namespace byre::inline BYRE_ABI::functional
