// SPDX-License-Identifier: BSL-1.0
#include <byre/tensor/detail/float_environment.hpp>
#include <byre/tensor/detail/operands.hpp>
#include <byre/tensor/elements/detail/convert.hpp>
#include <byre/tensor/scalar.hpp>

namespace byre::inline BYRE_ABI {

bool Scalar::fits(DType dtype) const {
  const auto* const integer = std::get_if<std::int64_t>(&value_);
  return integer == nullptr || !is_integral(dtype) || visit(dtype, "fits", [integer]<class T>() {
           return detail::converted<std::int64_t>(detail::converted<T>(*integer)) == *integer;
         });
}

Tensor Scalar::to_tensor(DType dtype) const {
  return visit(dtype, "Scalar::to_tensor", [this]<class T>() {
    T value{};
    visit_held([&value]<class Number>(const Number& number) {
      const detail::DefaultFloatEnvironment environment;
      detail::conversion(dtype_of<T>, dtype_of<Number>, "Scalar::to_tensor")(
          reinterpret_cast<std::byte*>(&value), 0, reinterpret_cast<const std::byte*>(&number), 0,
          1);
    });
    return Tensor::of<T>({}, std::span<const T>(&value, 1));
  });
}

Tensor Scalar::fitting(DType dtype, const char* operation) const {
  if (!fits(dtype)) {
    throw DTypeError(format_text(
        "%s: the number %lld is out of range of %s, the dtype of the tensor. Convert the tensor "
        "first, by copy_() to a wider dtype.",
        operation, static_cast<long long>(std::get<std::int64_t>(value_)), name_of(dtype)));
  }
  return to_tensor(dtype);
}

Tensor Scalar::operand_for(const Tensor& tensor, const char* operation) const {
  detail::expect_dtype_known(tensor, operation);
  return fitting(operand_dtype(tensor.dtype()), operation);
}

Tensor Scalar::compared_with(const Tensor& tensor, const char* operation) const {
  detail::expect_dtype_known(tensor, operation);
  const DType dtype = operand_dtype(tensor.dtype());
  return to_tensor(fits(dtype) ? dtype : DType::i64);
}

void Scalar::refuse(std::uint64_t value) {
  throw DTypeError(
      format_text("the number %llu is out of range of i64, the widest integral dtype. Pass a "
                  "floating-point number.",
                  static_cast<unsigned long long>(value)));
}

void Scalar::refuse_as(std::size_t nbytes, bool is_signed) const {
  const detail::DefaultFloatEnvironment environment;
  const auto* const integer = as_integer();
  const Text number = integer != nullptr ? format_text("%lld", static_cast<long long>(*integer))
                                         : format_text("%.17g", as<double>());
  throw DTypeError(
      format_text("Scalar::as: the number %s is out of range of %s integer of %zu bits. Request a "
                  "wider type, or a floating-point type.",
                  number.chars.data(), is_signed ? "a signed" : "an unsigned", 8 * nbytes));
}

}  // namespace byre::inline BYRE_ABI
