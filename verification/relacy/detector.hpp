// SPDX-License-Identifier: BSL-1.0
/// The Relacy Race Detector, included so that the rest of a source file can still be C++20: its
/// macros for `new`, `malloc` or memory orders end here. Include it after every other header.
#pragma once

#if !defined(RL_DO_ASSERT) || !RL_DO_ASSERT
#error "without RL_DO_ASSERT an illegal order and a test that is not deterministic both pass"
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
