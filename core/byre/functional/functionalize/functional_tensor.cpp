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
      sight_{std::move(value)} {}

FunctionalTensor::FunctionalTensor(const AliasHandle& alias, ViewPath path)
    : TensorImpl(key),
      backend_(alias->backend()),
      level_(alias->batch_level()),
      path_(std::move(path)),
      alias_(alias) {
  alias_->add_tensor(path_, sight_);
}

FunctionalTensor::~FunctionalTensor() {
  if (alias_ != nullptr) {
    alias_->drop_tensor(path_, sight_);
  }
}

void FunctionalTensor::see(AliasHandle alias, ViewPath path, AnyTensor value) noexcept {
  if (alias_ != nullptr) {
    alias_->drop_tensor(path_, sight_);
  }
  alias_ = std::move(alias);
  path_ = std::move(path);
  sight_ = {std::move(value)};
  if (alias_ != nullptr) {
    alias_->add_tensor(path_, sight_);
  }
}

AnyTensor FunctionalTensor::value() {
  const Lock lock(mutex_);
  return alias_ == nullptr ? sight_.value : alias_->see(path_, sight_);
}

std::uint64_t FunctionalTensor::generation() const noexcept {
  const Lock lock(mutex_);
  return alias_ == nullptr ? 0 : alias_->generation_of(sight_);
}

FunctionalTensor::AliasHandle FunctionalTensor::alias() {
  const Lock lock(mutex_);
  if (alias_ == nullptr) {
    // Its path, to the base, stays what it is: others may be asking for it.
    alias_ = make_counted<Alias>(sight_.value, functionalize_options(), level_);
    alias_->add_tensor(path_, sight_);
    sight_.value = {};  // the base's: the alias has it
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
    sight_.value = std::move(value);
  } else {
    BYRE_ASSERT(prepared_, "a write came unprepared");
    alias_->update(std::move(*prepared_), std::move(value), sight_);
    prepared_.reset();
  }
}

void FunctionalTensor::move_to(ViewPath path) noexcept {
  const Lock lock(mutex_);
  see(alias_, std::move(path));
}

void FunctionalTensor::set(const AliasHandle& alias, ViewPath path) noexcept {
  const Lock lock(mutex_);
  level_ = alias->batch_level();
  see(alias, std::move(path));
}

void FunctionalTensor::set(AnyTensor value, ViewPath path) noexcept {
  const Lock lock(mutex_);
  has_grown_ = true;
  see(nullptr, std::move(path), std::move(value));
}

AnyTensor to_functional(AnyTensor value) {
  return make_counted<FunctionalTensor>(std::move(value));
}

AnyTensor from_functional(const AnyTensor& tensor) {
  auto* const functional = tensor.as<FunctionalTensor>();
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
