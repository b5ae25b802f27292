// SPDX-License-Identifier: BSL-1.0
/// The C interface of byre: copy-on-write storage for programs in C11, C++98 and later, and for
/// languages that call C. docs/c.md has a tour, examples, and the C++ member behind each function.
///
/// ```c
/// byre_buffer weights = BYRE_BUFFER_EMPTY, snapshot = BYRE_BUFFER_EMPTY;
/// void* bytes;
/// if (byre_buffer_allocate(64 << 20, NULL, &weights) != BYRE_OK ||
///     byre_buffer_clone(&weights, &snapshot) != BYRE_OK ||           // copies no bytes
///     byre_buffer_mutable_data(&weights, BYRE_WAIT_ALLOWED, &bytes) != BYRE_OK) {  // copies them
///   fprintf(stderr, "%s\n", byre_last_error());
/// }
/// byre_buffer_release(&weights);
/// byre_buffer_release(&snapshot);
/// ```
///
/// A `byre_buffer` and a `byre_tiles` are values in memory of the caller, like an `mtx_t`. Their
/// members are private. Memory of zeros is an empty value, and a released value is empty again, so
/// a second release does nothing. Release empty values, too: a checked build allocates memory for
/// each value that was ever in use. A value in use must not be copied by assignment: clone it. It
/// may be moved (by memcpy or realloc) if the former place is not used any more. A `byre_storage`
/// is an identity behind a pointer; NULL is the empty storage.
///
/// Unless a function says otherwise:
///
/// - Errors: a function that can fail returns a byre_status. If the result is not BYRE_OK, no value
///   has changed, and byre_last_error() explains what failed and what to do. No C++ exception
///   leaves a function. A pointer for a result must not be NULL. A function without a status
///   cannot fail, and takes NULL for an empty value.
/// - Results: `*result` must be initialized, for example to BYRE_BUFFER_EMPTY. A function makes the
///   new value first, then releases the former one; if it fails, the former value stays. Only if
///   the result is a pointer (such as a byre_storage*), any former pointer is overwritten.
/// - Callbacks: no exception may leave a callback without a status (a deleter, deallocate, a copy
///   sink, a warning handler), and no callback may call longjmp.
/// - Thread-safety: any number of threads may read or clone one value or storage at once. The
///   caller must not write it while another thread accesses it. Values that share bytes are
///   independent: each may be used by a thread of its own. In a checked build (Meson option
///   `checks`) byre reports violations of these rules.
/// - Memory: where an allocator is a parameter, NULL is byre_default_allocator(). An allocator must
///   outlive all bytes from it, lazy clones and copies included.
/// - Lifetime: pointers to bytes are valid until the value is next written, or destroyed. A pointer
///   for writing is valid only until the next clone: a later write would change the clone.
#ifndef BYRE_BYRE_H
#define BYRE_BYRE_H

#include <stddef.h>
#include <stdint.h>

/// The definitions in the library say how they are exported. Programs leave this macro empty.
#ifndef BYRE_C_API
#define BYRE_C_API
#endif

/// Values whose bytes the library accesses as another type: compilers must expect this if they
/// optimize library and program together.
#ifdef __GNUC__
#define BYRE_C_VALUE __attribute__((__may_alias__))
#else
#define BYRE_C_VALUE
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- Version

/// The version of the binary interface that this header describes. While it is 0, a minor version
/// of byre may change the interface.
#define BYRE_C_ABI 0

/// The version of the binary interface of the linked library. Compare it with BYRE_C_ABI if the
/// library is loaded at run time.
BYRE_C_API uint32_t byre_abi(void);
/// The version of the linked library, for example "0.1.0".
BYRE_C_API const char* byre_version(void);

// ---- Errors

typedef int32_t byre_status;
enum {
  BYRE_OK = 0,
  BYRE_OUT_OF_MEMORY = 1,
  BYRE_INVALID_ARGUMENT = 2,
  BYRE_NOT_UNIQUE = 3,  ///< the function requires bytes that are neither shared nor pinned
  BYRE_FILE_ERROR = 4,
  BYRE_FAILED = 5,  ///< a callback returned a status outside of this list, or threw an exception
  BYRE_STOP = 6,    ///< a visitor returns it to end an iteration, which then returns BYRE_OK
  BYRE_USER_STATUS = 1000  ///< a callback may return a status from here on: it reaches the caller
                           ///< of the function that called the callback
};

/// A name such as "out of memory"; "unknown status" for other numbers.
BYRE_C_API const char* byre_status_name(byre_status status);
/// A sentence about the latest failure on this thread; "" before the first. It is valid until the
/// next failure on this thread, or the end of the thread. A success does not change it.
BYRE_C_API const char* byre_last_error(void);

/// Receives a warning: a problem in a place that cannot return a status. Several threads may call
/// it at once. `text` is valid during the call.
typedef void (*byre_warning_handler)(const char* text);
/// Installs a handler, or the default (stderr) if it is NULL. Returns the former one. Thread-safe.
BYRE_C_API byre_warning_handler byre_set_warning_handler(byre_warning_handler handler);

/// Sets the place that recordings, copy sinks, explanations and checked builds report for later
/// calls by this thread: a line of the caller's source, or of the program that an interpreter runs.
/// `file` must remain valid until this thread sets another place. NULL resets the place to "?".
BYRE_C_API void byre_set_call_site(const char* file, uint32_t line);
#define BYRE_HERE() byre_set_call_site(__FILE__, __LINE__)

// ---- Kinds

/// Whether a write by the last owner of some bytes may wait until pending copies of them end.
typedef int32_t byre_wait;
enum {
  BYRE_WAIT_ALLOWED = 0,
  BYRE_WAIT_NEVER = 1  ///< the last owner copies the bytes instead of waiting
};

/// How a write made the bytes unshared.
typedef int32_t byre_materialized;
enum {
  BYRE_ALREADY_UNIQUE = 0,
  BYRE_STOLE = 1,    ///< the writer was the last owner, and continues in place
  BYRE_COPIED = 2,   ///< the bytes were shared or read-only: the writer has a copy
  BYRE_OVERLAID = 3  ///< as BYRE_COPIED, for bytes in pages: the system copies single pages
};

/// Where bytes came from.
typedef int32_t byre_origin;
enum {
  BYRE_ORIGIN_ALLOCATED = 0,
  BYRE_ORIGIN_ADOPTED = 1,
  BYRE_ORIGIN_BORROWED = 2,
  BYRE_ORIGIN_ALIASED = 3,
  BYRE_ORIGIN_MAPPED = 4,  ///< a mapped file
  BYRE_ORIGIN_PAGED = 5,   ///< pages of byre_paged_allocator()
  BYRE_ORIGIN_OVERLAY = 6  ///< a private mapping of such pages, or of a mapped file
};

/// Whether other threads write to a buffer during byre_buffer_writable_clone().
typedef int32_t byre_writers;
enum {
  BYRE_WRITERS_NONE = 0,
  BYRE_WRITERS_ELSEWHERE = 1  ///< only to bytes that are never read in the clone
};

// ---- Allocators

/// A source of memory. Thread-safe.
typedef struct byre_allocator byre_allocator;

typedef struct byre_block {
  void* data;       ///< aligned to 64 bytes
  size_t capacity;  ///< usable bytes at `data`
  void* base;       ///< for the allocator's use
} byre_block;

/// When the copies that an allocator makes for writers of shared bytes are complete.
typedef int32_t byre_copies_end;
enum {
  BYRE_COPIES_END_ON_RETURN = 0,
  BYRE_COPIES_END_LATER = 1,    ///< after submit_copy has returned; the last owner waits for them
  BYRE_COPIES_END_IN_ORDER = 2  ///< as BYRE_COPIES_END_LATER, but the device executes all commands
                                ///< in order, so writers never wait
};

/// A submitted copy, whose source stays allocated until the copy is ended. The members are private.
typedef struct BYRE_C_VALUE byre_pending_copy {
  void* private_source;
  void (*private_end)(void*);
} byre_pending_copy;

/// Moves the handle of a copy to `to`, which has none: submit_copy does so when nothing can fail
/// any more. Does nothing if a pointer is NULL.
BYRE_C_API void byre_pending_copy_take(byre_pending_copy* from, byre_pending_copy* to);
/// Ends the copy: the device has read the source, or never will. On any thread. Does nothing if the
/// handle has no copy.
BYRE_C_API void byre_pending_copy_end(byre_pending_copy* pending);

/// An allocator as a table of functions. They may be called on any thread at any time. Those marked
/// optional may be NULL. A function that returns a status other than BYRE_OK must hold no memory
/// and have changed nothing; byre passes BYRE_OUT_OF_MEMORY and statuses from BYRE_USER_STATUS on
/// to the caller. Return BYRE_OUT_OF_MEMORY if a quota is exhausted, too: a buffer that grows asks
/// for spare capacity first, and after this status only for the size that it needs.
typedef struct byre_allocator_functions {
  size_t struct_nbytes;  ///< sizeof(byre_allocator_functions), also if the library is newer
  void* user;            ///< passed to each function
  const char* name;      ///< for messages
  uint16_t device_kind;  ///< 0 for memory of the host; devices are numbered by the program
  uint16_t device_index;
  byre_copies_end copies_end;  ///< BYRE_COPIES_END_ON_RETURN for memory of the host

  /// Sets `*block` to memory for `nbytes` bytes, with `prefix` writable bytes (a multiple of 64)
  /// just before them. A block with NULL as data means: out of memory, unless both sizes are 0.
  byre_status (*allocate)(void* user, size_t nbytes, size_t prefix, byre_block* block);
  /// Takes back a block. Called once for each block.
  void (*deallocate)(void* user, const byre_block* block);
  /// Optional: copies `nbytes` > 0 between two places on the device. The default is memcpy.
  byre_status (*copy)(void* user, void* destination, const void* source, size_t nbytes);
  /// Optional: allocates, then copies `copied_nbytes` bytes from `source`.
  byre_status (*allocate_copy)(void* user, size_t nbytes, size_t prefix, const void* source,
                               size_t copied_nbytes, byre_block* block);
  /// Optional: as allocate_copy, for a writer that continues while the device copies. Takes the
  /// handle out of `*pending`; if it does not, the copy is complete. A call that takes the handle
  /// must not fail: byre ends the program then.
  byre_status (*submit_copy)(void* user, size_t nbytes, size_t prefix, const void* source,
                             size_t copied_nbytes, byre_block* block, byre_pending_copy* pending);
} byre_allocator_functions;

/// Creates an allocator. byre copies the table and the name.
BYRE_C_API byre_status byre_allocator_create(const byre_allocator_functions* functions,
                                             byre_allocator** result);
/// Destroys an allocator from byre_allocator_create() and from no other function. Requires that all
/// its memory was released.
BYRE_C_API void byre_allocator_destroy(byre_allocator* allocator);

/// The recycling pool of the process. Never destroyed.
BYRE_C_API byre_allocator* byre_default_allocator(void);
/// Memory from malloc. Never destroyed.
BYRE_C_API byre_allocator* byre_aligned_allocator(void);
/// Memory in which a write to shared bytes copies only the pages that it touches, from 256 KiB on,
/// on Linux and Windows; elsewhere memory of the default allocator. Never destroyed.
BYRE_C_API byre_allocator* byre_paged_allocator(void);

BYRE_C_API const char* byre_allocator_name(const byre_allocator* allocator);
BYRE_C_API uint16_t byre_allocator_device_kind(const byre_allocator* allocator);
BYRE_C_API uint16_t byre_allocator_device_index(const byre_allocator* allocator);

/// Memory of any allocator, for an allocator that is built on it.
BYRE_C_API byre_status byre_allocator_allocate(byre_allocator* allocator, size_t nbytes,
                                               size_t prefix, byre_block* result);
/// Errors: those of the allocator; invalid argument if an address is NULL and the size is not 0.
BYRE_C_API byre_status byre_allocator_copy(byre_allocator* allocator, void* destination,
                                           const void* source, size_t nbytes);
BYRE_C_API void byre_allocator_deallocate(byre_allocator* allocator, const byre_block* block);

// ---- Recycling pools

/// A pool of memory that keeps released blocks of at least 64 KiB, up to a limit. Thread-safe.
typedef struct byre_pool byre_pool;

/// The pool behind byre_default_allocator(). Never destroyed.
BYRE_C_API byre_pool* byre_default_pool(void);
BYRE_C_API byre_status byre_pool_create(size_t limit_nbytes, byre_pool** result);
/// Requires that all memory of the pool was released. Ends the program if large blocks are in use.
BYRE_C_API void byre_pool_destroy(byre_pool* pool);
BYRE_C_API byre_allocator* byre_pool_allocator(byre_pool* pool);
/// An eighth of byre_usable_memory_nbytes(), at most 4 GiB.
BYRE_C_API size_t byre_pool_default_limit_nbytes(void);
BYRE_C_API size_t byre_pool_limit_nbytes(const byre_pool* pool);
BYRE_C_API size_t byre_pool_idle_nbytes(const byre_pool* pool);
BYRE_C_API void byre_pool_set_limit_nbytes(byre_pool* pool, size_t limit_nbytes);
/// Returns idle blocks to the system until at most `keep_nbytes` are idle.
BYRE_C_API void byre_pool_trim(byre_pool* pool, size_t keep_nbytes);
/// The memory of the machine, or the limit of the process if that is less.
BYRE_C_API size_t byre_usable_memory_nbytes(void);

// ---- Buffers: values. A clone shares the bytes until either buffer is written.

typedef struct BYRE_C_VALUE byre_buffer {
  void* private_data;
  const uint64_t* private_state;
} byre_buffer;
#define BYRE_BUFFER_EMPTY \
  { NULL, NULL }

/// `nbytes` bytes with indeterminate contents, aligned to 64 bytes. Errors: out of memory; invalid
/// argument if the size exceeds the address space; those of the allocator.
BYRE_C_API byre_status byre_buffer_allocate(size_t nbytes, byre_allocator* allocator,
                                            byre_buffer* result);

/// Called once, by the thread that ends the last use of adopted memory.
typedef void (*byre_deleter)(void* data, void* user);

/// Properties of foreign memory, combined with `|`.
enum {
  BYRE_FOREIGN_READ_ONLY = 1,     ///< every write copies the bytes first
  BYRE_FOREIGN_OTHERS_WRITE = 2,  ///< other code may write the bytes: a clone copies them
  BYRE_FOREIGN_BORROWED = 4       ///< the caller releases the memory after the buffer, perhaps
                                  ///< before the clones: a clone copies the bytes. Must have no
                                  ///< deleter
};

/// A buffer over memory that byre did not allocate. byre writes the memory, unless it is read-only.
/// Copies come from `allocator`, which must belong to the device of the memory. The deleter is
/// called exactly once, also if this function fails. Errors: out of memory; invalid argument if the
/// deleter is NULL and the memory is not borrowed, if there is a deleter and the memory is
/// borrowed, or if the address is NULL and the size is not 0.
BYRE_C_API byre_status byre_buffer_adopt(const void* data, size_t nbytes, uint32_t properties,
                                         byre_deleter deleter, void* user,
                                         byre_allocator* allocator, byre_buffer* result);

/// A read-only buffer over a file, which is mapped and must not change. Reads nothing. Names of
/// files are UTF-8 on Windows, and bytes elsewhere. Errors: file error if the file is missing,
/// unreadable, empty or not regular; out of memory.
BYRE_C_API byre_status byre_buffer_map_file(const char* file_name, byre_allocator* allocator,
                                            byre_buffer* result);

/// A lazy clone: shares the bytes, for one atomic add. Borrowed memory, and memory that others
/// write, is copied instead, with the errors of byre_buffer_allocate(). A clone of a buffer into
/// itself does nothing.
BYRE_C_API byre_status byre_buffer_clone(const byre_buffer* source, byre_buffer* result);

/// A clone for code that writes through pointers and never calls byre: `source`, which becomes
/// unshared, and the clone may both be written through pointers afterwards. Copies all bytes, or of
/// bytes in pages only those that were written. Counts as a write to `source`.
BYRE_C_API byre_status byre_buffer_writable_clone(byre_buffer* source, byre_wait wait,
                                                  byre_writers writers, byre_buffer* result);

/// Drops the bytes; the buffer is empty afterwards. Never waits.
BYRE_C_API void byre_buffer_release(byre_buffer* buffer);
BYRE_C_API void byre_buffer_swap(byre_buffer* left, byre_buffer* right);

/// The bytes, for reading. NULL if the buffer is empty. Never copies.
BYRE_C_API const void* byre_buffer_data(const byre_buffer* buffer);
BYRE_C_API size_t byre_buffer_nbytes(const byre_buffer* buffer);

/// The bytes, for writing: copies them first if they are shared or read-only. Sets `*data` to NULL
/// if the buffer is empty, or if the call fails. Errors: those of byre_buffer_allocate(). Also a
/// macro that makes no call if the bytes are unshared.
BYRE_C_API byre_status byre_buffer_mutable_data(byre_buffer* buffer, byre_wait wait, void** data);
/// As byre_buffer_mutable_data(). Stores in `*how`, unless NULL, how the bytes became unshared.
BYRE_C_API byre_status byre_buffer_materialize(byre_buffer* buffer, byre_wait wait,
                                               byre_materialized* how);
/// As byre_buffer_mutable_data(), for a range: with bytes in pages, also allocates the memory of
/// its pages now. Errors: invalid argument if the range exceeds the buffer.
BYRE_C_API byre_status byre_buffer_mutable_range(byre_buffer* buffer, size_t offset, size_t nbytes,
                                                 byre_wait wait, void** data);

/// Changes the size. Bytes beyond the former size are indeterminate. An empty buffer is allocated.
/// The capacity grows by at least half. Errors: not unique if the bytes are shared, and those of
/// byre_buffer_allocate().
BYRE_C_API byre_status byre_buffer_resize(byre_buffer* buffer, size_t nbytes);
/// Releases the capacity beyond the size. Errors: those of byre_buffer_resize().
BYRE_C_API byre_status byre_buffer_shrink_to_fit(byre_buffer* buffer);
BYRE_C_API size_t byre_buffer_capacity(const byre_buffer* buffer);

/// 1 if no other buffer shares the bytes and no copy of them is pending, or if the buffer is empty;
/// else 0. If 1, all accesses by former owners happened before.
BYRE_C_API int byre_buffer_is_unique(const byre_buffer* buffer);
/// The number of buffers that share the bytes; approximate, for diagnostics.
BYRE_C_API uint32_t byre_buffer_use_count(const byre_buffer* buffer);
/// 1 if the buffers share their bytes, else 0; 0 if a buffer is empty.
BYRE_C_API int byre_buffer_shares_data_with(const byre_buffer* left, const byre_buffer* right);
BYRE_C_API byre_origin byre_buffer_origin(const byre_buffer* buffer);
/// 1 if a write copies the bytes even if no other buffer shares them.
BYRE_C_API int byre_buffer_is_read_only(const byre_buffer* buffer);
/// The allocator of copies of the bytes.
BYRE_C_API byre_allocator* byre_buffer_allocator(const byre_buffer* buffer);
/// Equal for buffers whose bytes are in one block or one file. For diagnostics.
BYRE_C_API const void* byre_buffer_memory_id(const byre_buffer* buffer);
/// Collects the pages under an overlay in huge pages, if the system can. See docs/parts.md.
BYRE_C_API void byre_buffer_collapse(byre_buffer* buffer, size_t offset, size_t nbytes);
/// Sets `*text` to a sentence about what a write would do, and why. Free it by byre_text_free().
BYRE_C_API byre_status byre_buffer_explain(const byre_buffer* buffer, char** text);

/// Frees a text that byre returned. NULL does nothing.
BYRE_C_API void byre_text_free(char* text);

// ---- Storages: identities. Handles of one storage alias: a write through one shows in all.

typedef struct byre_storage byre_storage;

/// A storage that takes over the bytes of `buffer`, which is empty afterwards. If the call fails,
/// the buffer retains them.
BYRE_C_API byre_status byre_storage_from_buffer(byre_buffer* buffer, byre_storage** result);
BYRE_C_API byre_status byre_storage_allocate(size_t nbytes, byre_allocator* allocator,
                                             byre_storage** result);
BYRE_C_API byre_status byre_storage_map_file(const char* file_name, byre_allocator* allocator,
                                             byre_storage** result);

/// Counts one more handle, to be released too, and returns `storage`. One atomic add.
BYRE_C_API byre_storage* byre_storage_retain(byre_storage* storage);
/// Drops a handle. The last one drops the bytes. Never waits.
BYRE_C_API void byre_storage_release(byre_storage* storage);

/// A new storage that shares the bytes until either is written. Pinned memory is copied instead,
/// and so are borrowed memory and memory that others write. NULL clones to NULL.
BYRE_C_API byre_status byre_storage_clone(const byre_storage* storage, byre_storage** result);
/// See byre_buffer_writable_clone().
BYRE_C_API byre_status byre_storage_writable_clone(byre_storage* storage, byre_wait wait,
                                                   byre_storage** result);

// As the functions of buffers with these names. NULL has no bytes.
BYRE_C_API const void* byre_storage_data(const byre_storage* storage);
BYRE_C_API size_t byre_storage_nbytes(const byre_storage* storage);
BYRE_C_API byre_status byre_storage_mutable_data(byre_storage* storage, byre_wait wait,
                                                 void** data);
BYRE_C_API byre_status byre_storage_materialize(byre_storage* storage, byre_wait wait,
                                                byre_materialized* how);
BYRE_C_API byre_status byre_storage_mutable_range(byre_storage* storage, size_t offset,
                                                  size_t nbytes, byre_wait wait, void** data);
BYRE_C_API int byre_storage_is_unique(const byre_storage* storage);
BYRE_C_API uint32_t byre_storage_use_count(const byre_storage* storage);
BYRE_C_API int byre_storage_shares_data_with(const byre_storage* left, const byre_storage* right);
BYRE_C_API byre_origin byre_storage_origin(const byre_storage* storage);
BYRE_C_API int byre_storage_is_read_only(const byre_storage* storage);
BYRE_C_API byre_allocator* byre_storage_allocator(const byre_storage* storage);
BYRE_C_API byre_status byre_storage_explain(const byre_storage* storage, char** text);

/// Changes the size for all handles. Errors: not unique if the bytes are shared or pinned, or if
/// the storage shrinks and has several handles; invalid argument for NULL.
BYRE_C_API byre_status byre_storage_resize(byre_storage* storage, size_t nbytes);
BYRE_C_API byre_status byre_storage_shrink_to_fit(byre_storage* storage);
BYRE_C_API uint32_t byre_storage_handle_count(const byre_storage* storage);

/// A number that each write access to the storage changes; 0 for NULL. Request write access again
/// after each call: writes through earlier pointers do not change the number. If the memory may
/// have other writers (pinned, borrowed, aliased), each call returns a new number.
BYRE_C_API uint64_t byre_storage_version(const byre_storage* storage);

// For the threads of a parallel loop, which may call these functions on one storage at once if they
// write separate parts: the first call copies, the others wait for it. No other operation on the
// storage may run meanwhile.
BYRE_C_API byre_status byre_storage_mutable_data_in_parallel(byre_storage* storage, byre_wait wait,
                                                             void** data);
BYRE_C_API byre_status byre_storage_mutable_range_in_parallel(byre_storage* storage, size_t offset,
                                                              size_t nbytes, byre_wait wait,
                                                              void** data);
BYRE_C_API byre_status byre_storage_materialize_in_parallel(byre_storage* storage, byre_wait wait,
                                                            byre_materialized* how);

/// A pin: while it exists, the bytes of a storage do not move, for code that holds a pointer.
typedef struct byre_pin byre_pin;

/// A pin to write. Materializes the bytes; clones copy them until the pin is released. NULL for
/// NULL.
BYRE_C_API byre_status byre_storage_pin(byre_storage* storage, byre_wait wait, byre_pin** result);
/// A pin to read, which usually shares the bytes as a clone does. NULL for NULL.
BYRE_C_API byre_status byre_storage_pin_to_read(const byre_storage* storage, byre_pin** result);
/// 1 if a pin to write exists, or one to read memory that others may write.
BYRE_C_API int byre_storage_is_pinned(const byre_storage* storage);
BYRE_C_API void byre_pin_release(byre_pin* pin);
BYRE_C_API const void* byre_pin_data(const byre_pin* pin);
/// NULL if this is a pin to read.
BYRE_C_API void* byre_pin_mutable_data(const byre_pin* pin);
BYRE_C_API size_t byre_pin_nbytes(const byre_pin* pin);
BYRE_C_API int byre_pin_is_writable(const byre_pin* pin);

// ---- Tiles: values whose bytes are in tiles. A write to a clone copies only the tiles it touches.

typedef struct BYRE_C_VALUE byre_tiles {
  void* private_data;
  size_t private_sizes[2];
  void* private_state;
} byre_tiles;
#define BYRE_TILES_EMPTY \
  { NULL, {0, 0}, NULL }
#define BYRE_DEFAULT_TILE_NBYTES 65536u

/// `nbytes` bytes with indeterminate contents in tiles of `tile_nbytes`. Errors: out of memory;
/// invalid argument if `tile_nbytes` is 0 or a size exceeds the address space.
BYRE_C_API byre_status byre_tiles_allocate(size_t nbytes, size_t tile_nbytes,
                                           byre_allocator* allocator, byre_tiles* result);
/// A lazy clone, for one atomic add.
BYRE_C_API byre_status byre_tiles_clone(const byre_tiles* source, byre_tiles* result);
BYRE_C_API void byre_tiles_release(byre_tiles* tiles);
BYRE_C_API void byre_tiles_swap(byre_tiles* left, byre_tiles* right);

BYRE_C_API size_t byre_tiles_nbytes(const byre_tiles* tiles);
BYRE_C_API size_t byre_tiles_tile_count(const byre_tiles* tiles);
BYRE_C_API size_t byre_tiles_tile_nbytes(const byre_tiles* tiles);
BYRE_C_API byre_allocator* byre_tiles_allocator(const byre_tiles* tiles);

/// The bytes of a tile, for reading or for writing; their number is stored in `*nbytes`, unless
/// NULL. Errors: invalid argument if the index is out of range; to write, those of
/// byre_buffer_mutable_data().
BYRE_C_API byre_status byre_tiles_tile(const byre_tiles* tiles, size_t index, const void** data,
                                       size_t* nbytes);
BYRE_C_API byre_status byre_tiles_mutable_tile(byre_tiles* tiles, size_t index, byre_wait wait,
                                               void** data, size_t* nbytes);

/// Copies bytes out, or in. A write makes all its tiles unshared before it writes the first byte,
/// so a lack of memory changes no byte. If the allocator's `copy` fails, earlier tiles may have
/// been written. The bytes of a write or an append must not be those of `tiles`. Errors: invalid
/// argument if the range exceeds the tiles.
BYRE_C_API byre_status byre_tiles_read(const byre_tiles* tiles, size_t offset, void* destination,
                                       size_t nbytes);
BYRE_C_API byre_status byre_tiles_write(byre_tiles* tiles, size_t offset, const void* bytes,
                                        size_t nbytes, byre_wait wait);
BYRE_C_API byre_status byre_tiles_append(byre_tiles* tiles, const void* bytes, size_t nbytes,
                                         byre_wait wait);
/// Changes the size; copies no tile. byre_tiles_truncate() refuses to enlarge.
BYRE_C_API byre_status byre_tiles_resize(byre_tiles* tiles, size_t nbytes, byre_wait wait);
BYRE_C_API byre_status byre_tiles_truncate(byre_tiles* tiles, size_t nbytes, byre_wait wait);

/// 1 if neither value was written since the clone; and for one tile. Else 0.
BYRE_C_API int byre_tiles_shares_data_with(const byre_tiles* left, const byre_tiles* right);
BYRE_C_API int byre_tiles_shares_tile_with(const byre_tiles* left, const byre_tiles* right,
                                           size_t index);

/// Called for each part. A result other than BYRE_OK ends the iteration. BYRE_STOP ends it with
/// BYRE_OK; BYRE_OUT_OF_MEMORY and statuses from BYRE_USER_STATUS on are returned to the caller,
/// and others become BYRE_FAILED.
typedef byre_status (*byre_part_visitor)(void* user, const void* data, size_t nbytes);
/// Visits the parts of a range that are in one tile each, in order. Copies nothing.
BYRE_C_API byre_status byre_tiles_for_each_part(const byre_tiles* tiles, size_t offset,
                                                size_t nbytes, byre_part_visitor visit, void* user);
typedef byre_status (*byre_difference_visitor)(void* user, size_t index);
/// Visits the index of each tile that the two values do not share, ascending, in time proportional
/// to the part that differs. Errors: invalid argument if the tile sizes differ.
BYRE_C_API byre_status byre_tiles_for_each_difference(const byre_tiles* left,
                                                      const byre_tiles* right,
                                                      byre_difference_visitor visit, void* user);

// ---- Atomic buffers: variables that threads load clones from and store to, without a lock.

typedef struct byre_atomic_buffer byre_atomic_buffer;

/// An empty variable.
BYRE_C_API byre_status byre_atomic_buffer_create(byre_atomic_buffer** result);
/// Requires that no other thread uses it. NULL does nothing.
BYRE_C_API void byre_atomic_buffer_destroy(byre_atomic_buffer* place);

// Any threads may call these at once. Stores and exchanges take over the bytes of `desired`, which
// is empty afterwards: pass a clone to keep them. They wake no thread: call notify.
BYRE_C_API byre_status byre_atomic_buffer_load(const byre_atomic_buffer* place,
                                               byre_buffer* result);
BYRE_C_API byre_status byre_atomic_buffer_store(byre_atomic_buffer* place, byre_buffer* desired);
/// `*buffer` and the content change places.
BYRE_C_API byre_status byre_atomic_buffer_exchange(byre_atomic_buffer* place, byre_buffer* buffer);
/// Stores `desired` if the content shares its bytes with `expected`, or if both are empty, and sets
/// `*stored` to 1. Else sets it to 0, and `expected` to a clone of the content; `desired` keeps its
/// bytes.
BYRE_C_API byre_status byre_atomic_buffer_compare_exchange(byre_atomic_buffer* place,
                                                           byre_buffer* expected,
                                                           byre_buffer* desired, int* stored);
/// 1 if the content shares its bytes with `buffer`, or if both are empty.
BYRE_C_API int byre_atomic_buffer_holds(const byre_atomic_buffer* place, const byre_buffer* buffer);
/// Sleeps while the content shares its bytes with `expected`, or while both are empty; looks again
/// after each notify.
BYRE_C_API void byre_atomic_buffer_wait(const byre_atomic_buffer* place,
                                        const byre_buffer* expected);
BYRE_C_API void byre_atomic_buffer_notify(byre_atomic_buffer* place);
/// The number of completed stores.
BYRE_C_API uint64_t byre_atomic_buffer_version(const byre_atomic_buffer* place);

// ---- Observation. Without byre's Meson option `stats`, counts are 0 and sinks are not called.

/// Counts of the process since its start; docs/observing.md explains them.
typedef struct byre_stats {
  size_t struct_nbytes;  ///< set by the caller: sizeof(byre_stats)
  int64_t lazy_clones;
  int64_t copies;
  int64_t steals;
  int64_t waits;
  int64_t bytes_copied;
  int64_t bytes_not_copied;
  int64_t live_bytes;
  int64_t pooled_bytes;
  int64_t overlays;
  int64_t pinned_bytes;
} byre_stats;
/// Writes the members that both this header and the library have. Thread-safe. Errors: invalid
/// argument if `struct_nbytes` is smaller than the first version of the structure.
BYRE_C_API byre_status byre_stats_snapshot(byre_stats* result);

typedef int32_t byre_copy_cause;
enum {
  BYRE_CAUSE_SHARED = 0,
  BYRE_CAUSE_PENDING = 1,
  BYRE_CAUSE_READ_ONLY = 2,
  BYRE_CAUSE_BORROWED = 3,
  BYRE_CAUSE_PINNED = 4,
  BYRE_CAUSE_WRITABLE = 5,
  BYRE_CAUSE_RESIZED = 6,
  BYRE_CAUSE_EXPORTED = 7
};
/// A name such as "shared"; "?" for other numbers.
BYRE_C_API const char* byre_copy_cause_name(byre_copy_cause cause);

typedef struct byre_copy_event {
  size_t nbytes;
  const char* file;  ///< the place of byre_set_call_site(); valid during the call
  uint32_t line;
  byre_copy_cause cause;
} byre_copy_event;
/// Called for each copy, by the thread that copies, after the copy; on several threads at once. It
/// may write other owners of the source. It must not access the buffer or storage that is being
/// written, and must not install or remove sinks. Its own copies are not reported.
typedef void (*byre_copy_sink)(void* user, const byre_copy_event* event);
typedef struct byre_installed_sink byre_installed_sink;
BYRE_C_API byre_status byre_copy_sink_install(byre_copy_sink sink, void* user,
                                              byre_installed_sink** result);
/// Waits for running calls of sinks. Ends the program inside a sink. NULL does nothing.
BYRE_C_API void byre_copy_sink_remove(byre_installed_sink* installed);

/// Records clones, copies, steals and waits with their places, until it is stopped or destroyed.
typedef struct byre_recording byre_recording;
/// Begins. `limit_nbytes` limits the memory for records; 0 is the default, 64 MiB.
BYRE_C_API byre_status byre_recording_create(size_t limit_nbytes, byre_recording** result);
BYRE_C_API void byre_recording_destroy(byre_recording* recording);
BYRE_C_API byre_status byre_recording_stop(byre_recording* recording);
/// The trace for https://ui.perfetto.dev, and a summary. Free the text by byre_text_free().
BYRE_C_API byre_status byre_recording_to_json(const byre_recording* recording, char** text);
BYRE_C_API byre_status byre_recording_summary(const byre_recording* recording, char** text);
/// Writes the summary if the name ends in .txt, else the trace.
BYRE_C_API byre_status byre_recording_write(const byre_recording* recording, const char* file_name);
/// The number of events that were lost for lack of memory.
BYRE_C_API uint64_t byre_recording_lost(const byre_recording* recording);

/// The bytes that byre holds by origin, as a text and as JSON; docs/observing.md explains them.
/// Free the text by byre_text_free(). Thread-safe. Errors: invalid argument without byre's Meson
/// option `stats`.
BYRE_C_API byre_status byre_memory_report_to_text(char** text);
BYRE_C_API byre_status byre_memory_report_to_json(char** text);

#ifdef __cplusplus
}  // extern "C"
#endif

// A write to unshared bytes, without a call: the state begins with the share word, which is 1 if
// the buffer is the only owner. This layout is part of the binary interface. Acquire, as in the
// library: the writes happen after all that former owners did.
#if defined(__GNUC__) && defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ == 8 && \
    !defined(BYRE_C_NO_INLINE)
static __inline__ byre_status byre_private_mutable_data(byre_buffer* buffer, byre_wait wait,
                                                        void** data) {
  // The address of a local variable: the variable of the caller may remain in a register. It is
  // initialized because compilers do not know that the call stores a value.
  void* address = buffer;
  byre_status status;
  if (__builtin_expect(buffer && data && buffer->private_state &&
                           __atomic_load_n(buffer->private_state, __ATOMIC_ACQUIRE) == 1,
                       1)) {
    *data = buffer->private_data;
    return BYRE_OK;
  }
  if (!data) {
    return byre_buffer_mutable_data(buffer, wait, data);
  }
  status = byre_buffer_mutable_data(buffer, wait, &address);
  *data = address;
  return status;
}
#define byre_buffer_mutable_data(buffer, wait, data) byre_private_mutable_data(buffer, wait, data)
#endif

#endif  // BYRE_BYRE_H
