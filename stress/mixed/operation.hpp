// SPDX-License-Identifier: BSL-1.0
/// What threads do to storages, and how often they do which of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace byre::stress {

/// A thread has slots of its own, which hold a Buffer or a Storage each, and a mailbox; all threads
/// share the board, whose storages are read and cloned, never written. An operation that needs
/// something where there is nothing allocates it first.
enum class Operation : std::uint8_t {
  read,         ///< looks at every byte
  write,        ///< gets write access, checks what a copy or steal left there, writes every byte
  write_never,  ///< the same, but never waits
  clone,        ///< a lazy clone into another slot
  clone_clone,  ///< a lazy clone of a lazy clone, which is dropped
  drop,         ///< releases what a slot holds
  allocate,     ///< new memory
  hand,         ///< a lazy clone into another thread's mailbox; half the time both write at once
  take,         ///< out of the own mailbox into a slot; half the time written at once
  resize,       ///< refused unless unique
  adopt,        ///< foreign memory with a deleter
  borrow,       ///< memory that stays its lender's, const or not
  map,          ///< a file
  alias,        ///< another handle to the same storage, or the release of one
  move,         ///< moves, swaps and assigns, to itself too
  board_read,   ///< reads and clones one storage together with other threads
  board_clone,  ///< a clone of one that others clone too; half the time written at once
  board_put,    ///< a clone onto the board in place of another storage
  board_steal,  ///< takes one off the board and writes it while others still copy: waits and steals
};
inline constexpr std::size_t operation_count = 19;

std::string_view name_of(Operation operation) noexcept;

/// Whether an operation that fails leaves the slot it is about as it was: it does not if it goes on
/// after it has changed that.
bool is_all_or_nothing(Operation operation) noexcept;

/// How often each operation is drawn, against the others.
using Mix = std::array<std::uint32_t, operation_count>;

Mix usual_mix() noexcept;

/// "read=4,write=2": what is not named is not done. Throws std::invalid_argument with a text for
/// people.
Mix parse_mix(std::string_view text);

/// What parse_mix takes.
std::string text_of(const Mix& mix);

}  // namespace byre::stress
