// SPDX-License-Identifier: BSL-1.0
/// A Buffer or a Storage, with what its owner knows of it.
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
class Item {
 public:
  using Buffer = basic_buffer<Sync, Share>;
  using Storage = basic_storage<Sync, Share>;
  using Lent = std::unique_ptr<std::byte[]>;

  /// `own` is what the next write to it will have written; `expected`, what it reads now.
  template <class Value>
  Item(Value value, Content own, Content expected, Lent lent = nullptr) noexcept
      : lent_(std::move(lent)), value_(std::move(value)), own_(own), expected_(expected) {}
  Item(Item&&) noexcept = default;
  Item& operator=(Item&& other) noexcept {
    Item(std::move(other)).swap(*this);
    return *this;
  }

  void swap(Item& other) noexcept {
    lent_.swap(other.lent_);
    std::swap(value_, other.value_);
    std::swap(alias_, other.alias_);
    std::swap(own_, other.own_);
    std::swap(expected_, other.expected_);
  }

  /// Calls `act` with the Buffer or the Storage; of a storage with two handles with the other one
  /// every other time.
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
  const Storage* storage() const noexcept { return std::get_if<Storage>(&value_); }

  /// Throws OutOfMemory; it is then a buffer still.
  void become_storage() {
    if (Buffer* bytes = buffer()) {
      value_ = Storage(std::move(*bytes));
    }
  }
  Storage release_storage() noexcept {
    alias_ = {};
    return std::move(std::get<Storage>(value_));
  }

  /// Of a storage: from one handle to two, or back to one, either of them.
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
  /// Its data, unless others own or copy it, or it cannot be written in place.
  std::optional<std::pair<const std::byte*, std::size_t>> unshared() const {
    const bool is_unshared =
        with([](const auto& value) { return value.is_unique() && !value.is_read_only(); });
    return is_unshared ? std::optional(std::pair(data(), nbytes())) : std::nullopt;
  }
  /// A lazy clone of it may fail, as it copies.
  bool is_borrowed() const { return origin() == Origin::borrowed; }

  const Content& expected() const noexcept { return expected_; }
  /// The next version, to be written.
  Content next() const noexcept { return {own_.identity, own_.version + 1}; }
  void wrote_next() noexcept {
    ++own_.version;
    expected_ = own_;
  }

  /// What is wrong with its bytes, through each of its handles.
  std::optional<std::string> fault() const {
    if (alias_ && alias_.data() != data()) {
      return "two handles of one storage read different memory";
    }
    return fault_in(data(), nbytes(), expected_);
  }

 private:
  Lent lent_;  // before the value: freed after it
  std::variant<Buffer, Storage> value_;
  Storage alias_;  // another handle, or empty
  Content own_;
  Content expected_;
  bool alternate_ = false;
};

}  // namespace byre::stress
