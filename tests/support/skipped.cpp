// SPDX-License-Identifier: BSL-1.0
/// Replaces the functions of the system that start threads and processes.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#if defined(_WIN32)
#include "support/child_process.hpp"
#else
#include <cerrno>
#endif

namespace {

/// Ends the test. GoogleTest catches the exception, and reports the test as skipped.
[[noreturn]] void skip(const char* reason) {
  const testing::TestPartResult result(testing::TestPartResult::kSkip, __FILE__, __LINE__, reason);
  testing::internal::AssertHelper(result.type(), __FILE__, __LINE__, reason) = testing::Message();
  throw testing::AssertionException(result);
}

}  // namespace

extern "C" {

#if !BYRE_HAS_THREADS
int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) {
  skip("this build has one thread");
}
#endif

#if !BYRE_HAS_PROCESSES
pid_t fork() {
  skip("this system has no processes");
}
#if !defined(_WIN32)
int seteuid(uid_t) {
  skip("this system has no users");
}
/// Only children of fork() call it.
int prctl(int, ...) {
  return -1;
}
int pthread_setname_np(pthread_t, const char*) {
  return ENOTSUP;
}
#endif
#endif
}

#if defined(_WIN32)  // child_process.cpp needs POSIX
namespace byre::test {

std::optional<int> Exit::code() const noexcept {
  return status_;
}
std::optional<int> Exit::signal() const noexcept {
  return std::nullopt;
}
std::string Exit::text() const {
  return {};
}
ChildResult run_in_child(const ChildWork&, std::chrono::milliseconds) {
  skip("this system has no processes");
}
void redirect(int, int) noexcept {}
void write_all(int, const std::string&) noexcept {}

}  // namespace byre::test
#endif
