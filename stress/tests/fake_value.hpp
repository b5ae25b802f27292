// SPDX-License-Identifier: BSL-1.0
/// FakeStorage and FakeValue: give the answers that a test wants, for checks that a real storage never fails.
#pragma once

#include <byre/error/error.hpp>
#include <byre/memory/host_allocators.hpp>
#include <byre/storage/buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../content/content.hpp"

namespace byre::stress {

/// Answers rightly unless a test changes an answer.
struct FakeStorage {
  explicit FakeStorage(std::size_t nbytes, Content content) : bytes(nbytes) {
    write_content(bytes.data(), nbytes, content);
  }

  const std::byte* data() const { return bytes.data(); }
  std::byte* mutable_data() { return bytes.data(); }
  std::size_t nbytes() const { return bytes.size(); }
  bool is_unique() const { return says_unique; }
  bool is_read_only() const { return says_read_only; }
  std::uint32_t use_count() const { return says_owners; }
  std::uint32_t handle_count() const { return says_handles; }
  Origin origin() const { return Origin::allocated; }
  Allocator& allocator() const { return aligned_allocator(); }

  Materialized materialize(Wait) {
    says_unique = is_unique_after;
    says_read_only = says_read_only && !is_writable_after;
    return answer;
  }
  void resize(std::size_t nbytes) {
    if (on_resize) {
      on_resize(*this);
    } else {
      bytes.resize(nbytes);
    }
  }

  std::vector<std::byte> bytes;
  bool says_unique = true;
  bool says_read_only = false;
  std::uint32_t says_owners = 1;
  std::uint32_t says_handles = 1;
  Materialized answer = Materialized::already_unique;
  bool is_unique_after = true;
  bool is_writable_after = true;
  std::function<void(FakeStorage&)> on_resize;
};

/// What stress::Checked is to a Storage.
struct FakeValue {
  explicit FakeValue(std::size_t nbytes = 100) : value(nbytes, {7, 1}) {}

  template <class Act>
  decltype(auto) with(Act act) {
    return act(value);
  }
  template <class Act>
  decltype(auto) with(Act act) const {
    return act(value);
  }
  const FakeStorage* storage() const { return &value; }
  std::uint32_t handles() const { return 1; }
  std::size_t nbytes() const { return value.nbytes(); }
  bool is_read_only() const { return value.is_read_only(); }
  Content expected() const { return now; }
  Content next() const { return {now.identity, now.version + 1}; }
  void wrote_next() { now = next(); }
  std::optional<std::string> fault() const { return fault_in(value.data(), value.nbytes(), now); }

  FakeStorage value;
  Content now{7, 1};
};

}  // namespace byre::stress
