// SPDX-License-Identifier: BSL-1.0
#include "processes/lock_faults.hpp"

#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace byre::stress::processes {
namespace {

Fault fault_of_locks = Fault::none;

}  // namespace

void set_fault_of_locks(Fault fault) noexcept {
  fault_of_locks = fault;
}

}  // namespace byre::stress::processes

extern "C" int flock(int file, int operation) noexcept {
  using namespace byre::stress::processes;
  if ((operation & LOCK_EX) != 0 && fault_of_locks == Fault::blind_owner) {
    return 0;
  }
  if ((operation & LOCK_EX) != 0 && fault_of_locks == Fault::deaf_owner) {
    errno = EWOULDBLOCK;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_flock, file, operation));
}
