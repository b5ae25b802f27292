// SPDX-License-Identifier: BSL-1.0
/// Includes the Relacy Race Detector and undefines its macros for `new`, `malloc` and memory
/// orders, so that the rest of a source file can be C++20. Include this header last.
#pragma once

#if !defined(RL_DO_ASSERT) || !RL_DO_ASSERT
#error "define RL_DO_ASSERT=1: else an illegal order or a nondeterministic test passes"
#endif

#include <relacy/relacy.hpp>

#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef errno
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst
#undef $
#undef VAR
#undef VAR_T
#undef TLS_T
