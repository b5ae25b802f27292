// SPDX-License-Identifier: BSL-1.0
/// The operations on storages, and how often each is done.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace byre::stress {

/// A thread has its own slots, each with a Buffer or a Storage, and a mailbox. All threads share some slots
/// whose storages are read and cloned, never written. An operation on an empty slot allocates first.
enum class Operation : std::uint8_t {
  read,               ///< reads every byte
  write,              ///< gets write access, checks what a copy or steal left, writes every byte
  write_never,        ///< the same, without waiting
  clone,              ///< a lazy clone into another slot
  clone_clone,        ///< a lazy clone of a lazy clone, which is dropped
  drop,               ///< releases the value of a slot
  allocate,           ///< new memory
  hand,               ///< a lazy clone into another thread's mailbox; half the time then written
  take,               ///< out of the own mailbox into a slot; half the time then written
  resize,             ///< refused unless unique
  adopt,              ///< foreign memory with a deleter
  borrow,             ///< memory that stays its lender's, const or not
  map,                ///< a file
  alias,              ///< another handle to the same storage, or the release of one
  pin,                ///< writes by the pointer of a pin, and clones meanwhile; reads by another's
  move,               ///< moves, swaps and assigns, to itself too
  shared_slot_read,   ///< reads, clones and pins one storage together with other threads
  shared_slot_clone,  ///< a clone of one that others clone too; half the time then written
  shared_slot_put,    ///< a clone into a shared slot, in place of another storage
  shared_slot_steal,  ///< takes one out and writes it while others still copy: waits and steals
};
inline constexpr std::size_t operation_count = 20;

std::string_view name_of(Operation operation) noexcept;

/// Whether an operation that fails leaves its slot unchanged. Some fail after they changed it.
bool is_all_or_nothing(Operation operation) noexcept;

/// The weight of each operation.
using Mix = std::array<std::uint32_t, operation_count>;

Mix usual_mix() noexcept;

/// "read=4,write=2". Operations that are not named have weight 0. Throws std::invalid_argument, with a text
/// for the user.
Mix parse_mix(std::string_view text);

/// The inverse of parse_mix.
std::string text_of(const Mix& mix);

}  // namespace byre::stress
