// SPDX-License-Identifier: BSL-1.0
/// CheckedValue: a Buffer or a Storage, with the content that its owner expects in it.
#pragma once

#include <byre/storage/storage.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "../content/content.hpp"

namespace byre::stress {

/// Owned by one thread at a time.
template <sync::Sync Sync, template <class> class Share>
class CheckedValue {
 public:
  using Buffer = basic_buffer<Sync, Share>;
  using Storage = basic_storage<Sync, Share>;
  using Memory = std::unique_ptr<std::byte[]>;

  /// `own` is the content of this value's last write, `expected` what it reads now.
  template <class Value>
  CheckedValue(Value value, Content own, Content expected, Memory lender = nullptr) noexcept
      : lender_(std::move(lender)), value_(std::move(value)), own_(own), expected_(expected) {}
  CheckedValue(CheckedValue&&) noexcept = default;
  CheckedValue& operator=(CheckedValue&& other) noexcept {
    CheckedValue(std::move(other)).swap(*this);
    return *this;
  }

  void swap(CheckedValue& other) noexcept {
    lender_.swap(other.lender_);
    std::swap(value_, other.value_);
    std::swap(alias_, other.alias_);
    std::swap(own_, other.own_);
    std::swap(expected_, other.expected_);
  }

  /// Calls `act` with the Buffer or the Storage. A storage with two handles gives them by turns.
  template <class Act>
  decltype(auto) with(Act&& act) {
    if (alias_ && (alternate_ = !alternate_)) {
      return act(alias_);
    }
    return std::visit(std::forward<Act>(act), value_);
  }
  template <class Act>
  decltype(auto) with(Act&& act) const {
    return std::visit(std::forward<Act>(act), value_);
  }

  Buffer* buffer() noexcept { return std::get_if<Buffer>(&value_); }
  const Buffer* buffer() const noexcept { return std::get_if<Buffer>(&value_); }
  /// Of a storage.
  auto pin() { return std::get<Storage>(value_).pin(); }
  const Storage* storage() const noexcept { return std::get_if<Storage>(&value_); }

  /// Throws OutOfMemory, and is still a buffer then.
  void become_storage() {
    if (Buffer* bytes = buffer()) {
      value_ = Storage(std::move(*bytes));
    }
  }
  Storage release_storage() noexcept {
    alias_ = {};
    return std::move(std::get<Storage>(value_));
  }

  /// Of a storage: adds a second handle, or releases one of two.
  void toggle_alias(bool release_first) noexcept {
    Storage& first = std::get<Storage>(value_);
    if (!alias_) {
      alias_ = first;
    } else if (release_first) {
      first = std::move(alias_);
    } else {
      alias_ = {};
    }
  }
  std::uint32_t handles() const noexcept { return buffer() != nullptr ? 0 : (alias_ ? 2 : 1); }

  const std::byte* data() const {
    return with([](const auto& value) { return value.data(); });
  }
  std::size_t nbytes() const {
    return with([](const auto& value) { return value.nbytes(); });
  }
  Origin origin() const {
    return with([](const auto& value) { return value.origin(); });
  }
  bool is_read_only() const {
    return with([](const auto& value) { return value.is_read_only(); });
  }
  /// Its data, if a write would be in place.
  std::optional<std::pair<const std::byte*, std::size_t>> unshared() const {
    const bool is_unshared =
        with([](const auto& value) { return value.is_unique() && !value.is_read_only(); });
    return is_unshared ? std::optional(std::pair(data(), nbytes())) : std::nullopt;
  }
  /// A lazy clone of it copies, and so may fail.
  bool is_borrowed() const { return origin() == Origin::borrowed; }

  const Content& expected() const noexcept { return expected_; }
  /// The content of the next write.
  Content next() const noexcept { return {own_.identity, own_.version + 1}; }
  void wrote_next() noexcept {
    ++own_.version;
    expected_ = own_;
  }

  /// What is wrong with its bytes, read through each of its handles.
  std::optional<std::string> fault() const {
    if (alias_ && alias_.data() != data()) {
      return "two handles of one storage read different memory";
    }
    return fault_in(data(), nbytes(), expected_);
  }

 private:
  Memory lender_;  // of borrowed memory. Before the value: freed after it
  std::variant<Buffer, Storage> value_;
  Storage alias_;  // another handle, or empty
  Content own_;
  Content expected_;
  bool alternate_ = false;
};

}  // namespace byre::stress
