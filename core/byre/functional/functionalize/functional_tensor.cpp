// SPDX-License-Identifier: BSL-1.0
#include <byre/functional/backends/cpu.hpp>
#include <byre/functional/dispatch/guards.hpp>
#include <byre/functional/functionalize/functional_tensor.hpp>

#include <algorithm>
#include <boost/thread/lock_guard.hpp>
#include <utility>

namespace byre::inline v0::functional {
namespace {

using Lock = boost::lock_guard<boost::mutex>;

}  // namespace

FunctionalTensor::FunctionalTensor(AnyTensor value)
    : TensorImpl(key),
      backend_(value.keys()),
      level_(std::max(batch_level_of(value), batch_level_of_thread())),
      path_(Window::of_all(value.sizes(), value.dtype())),
      value_(std::move(value)) {}

FunctionalTensor::FunctionalTensor(const AliasHandle& alias, ViewPath path)
    : TensorImpl(key),
      backend_(alias->backend()),
      level_(alias->batch_level()),
      path_(std::move(path)) {
  exchange_alias(alias);
}

void FunctionalTensor::exchange_alias(const AliasHandle& alias) noexcept {
  if (alias != nullptr) {
    alias->add_tensor();
  }
  if (alias_ != nullptr) {
    alias_->drop_tensor();
  }
  alias_ = alias;
}

AnyTensor FunctionalTensor::value() {
  const Lock lock(mutex_);
  if (alias_ == nullptr || (value_ && generation_ == alias_->generation())) {
    return value_;
  }
  value_ = {};  // what is old need not be kept beside what is new
  auto [base, generation] = alias_->current();
  generation_ = generation;
  if (path_.is_base()) {
    return base;
  }
  const ExcludeKeys pass(Key::functionalize);
  return value_ = path_.replay(base, alias_->removes());
}

std::uint64_t FunctionalTensor::generation() const noexcept {
  const Lock lock(mutex_);
  return generation_;
}

FunctionalTensor::AliasHandle FunctionalTensor::alias() {
  const Lock lock(mutex_);
  if (alias_ == nullptr) {
    exchange_alias(make_counted<Alias>(value_, functionalize_options(), level_));
    value_ = {};
  }
  return alias_;
}

FunctionalTensor::AliasHandle FunctionalTensor::alias_if_any() const noexcept {
  const Lock lock(mutex_);
  return alias_;
}

void FunctionalTensor::prepare_write(const char* operation, std::size_t writes) {
  if (path_.window().overlaps_itself()) {
    throw ShapeError(
        format_text("%s: elements of the tensor that is written share memory: it has sizes %s and "
                    "strides %s, as expand and as_strided make them. clone() it first.",
                    operation, byre::to_string(path_.window().layout.sizes).c_str(),
                    byre::to_string(path_.window().layout.strides).c_str()));
  }
  const Lock lock(mutex_);
  if (alias_ == nullptr) {
    return;
  }
  if (alias_->is_frozen()) {
    throw FunctionalizeError(
        format_text("%s: the tensor that is written, %s%s, was not made in the function, nor given "
                    "to it: nobody would see the write. Make it an input, or write a clone().",
                    operation, byre::name_of(dtype()), byre::to_string(sizes()).c_str()));
  }
  prepared_ = path_;
  alias_->prepare_updates(writes);
}

void FunctionalTensor::write(AnyTensor value) noexcept {
  const Lock lock(mutex_);
  if (alias_ == nullptr) {
    value_ = std::move(value);
  } else {
    value_ = path_.is_base() ? AnyTensor() : value;
    BYRE_ASSERT(prepared_, "a write came unprepared");
    generation_ = alias_->update(std::move(*prepared_), std::move(value));
    prepared_.reset();
  }
}

void FunctionalTensor::move_to(ViewPath path) noexcept {
  const Lock lock(mutex_);
  path_ = std::move(path);
  value_ = {};
}

void FunctionalTensor::set(const AliasHandle& alias, ViewPath path) noexcept {
  const Lock lock(mutex_);
  exchange_alias(alias);
  level_ = alias->batch_level();
  path_ = std::move(path);
  value_ = {};
  generation_ = 0;
}

void FunctionalTensor::set(AnyTensor value, ViewPath path) noexcept {
  const Lock lock(mutex_);
  exchange_alias(nullptr);
  has_grown_ = true;
  path_ = std::move(path);
  value_ = std::move(value);
  generation_ = 0;
}

AnyTensor to_functional(AnyTensor value) {
  return make_counted<FunctionalTensor>(std::move(value));
}

AnyTensor from_functional(const AnyTensor& tensor) {
  FunctionalTensor* const functional = tensor.as<FunctionalTensor>();
  return functional == nullptr ? tensor : functional->value();
}

bool share_memory(const AnyTensor& a, const AnyTensor& b) {
  if (a == b) {
    return true;
  }
  const CpuTensor* const on_cpu = a.as<CpuTensor>();
  const CpuTensor* const other = b.as<CpuTensor>();
  if (on_cpu != nullptr && other != nullptr) {
    return on_cpu->value.aliases(other->value);
  }
  const FunctionalTensor* const seen = a.as<FunctionalTensor>();
  const auto alias = seen == nullptr ? nullptr : seen->alias_if_any();
  return alias != nullptr && b.as<FunctionalTensor>() != nullptr &&
         b.as<FunctionalTensor>()->alias_if_any() == alias;
}

}  // namespace byre::inline v0::functional
