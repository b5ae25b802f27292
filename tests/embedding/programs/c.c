// SPDX-License-Identifier: BSL-1.0
/// A program in C11 that links byre. docs/c.md shows parts of it.
#include <byre/byre.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static byre_status allocate(void* user, size_t nbytes, size_t prefix, byre_block* block) {
  char* base = malloc(prefix + nbytes + 63);
  const size_t gap = base == NULL ? 0 : (64 - (uintptr_t)base % 64) % 64;
  (void)user;
  block->base = base;
  block->data = base == NULL ? NULL : base + gap + prefix;  // the prefix is a multiple of 64
  block->capacity = nbytes;
  return BYRE_OK;  // NULL as data means: out of memory
}
static void deallocate(void* user, const byre_block* block) {
  (void)user;
  free(block->base);
}

static int uses_its_allocator(void) {
  byre_allocator_functions functions = {0};
  byre_allocator* allocator = NULL;
  byre_buffer buffer = BYRE_BUFFER_EMPTY;
  functions.struct_nbytes = sizeof functions;
  functions.name = "allocator in C";
  functions.allocate = &allocate;
  functions.deallocate = &deallocate;
  const int good = byre_allocator_create(&functions, &allocator) == BYRE_OK &&
                   byre_buffer_allocate(1000, allocator, &buffer) == BYRE_OK &&
                   byre_buffer_resize(&buffer, 100000) == BYRE_OK;
  byre_buffer_release(&buffer);
  byre_allocator_destroy(allocator);
  return good;
}

int main(void) {
  byre_buffer weights = BYRE_BUFFER_EMPTY, snapshot = BYRE_BUFFER_EMPTY;
  void* bytes;
  if (byre_buffer_allocate(64 << 20, NULL, &weights) != BYRE_OK ||
      byre_buffer_clone(&weights, &snapshot) != BYRE_OK ||  // copies no bytes
      byre_buffer_mutable_data(&weights, BYRE_WAIT_ALLOWED, &bytes) != BYRE_OK) {
    fprintf(stderr, "%s\n", byre_last_error());
    return 1;
  }
  *(char*)bytes = 1;  // the bytes were copied first, because they were shared
  const int good = byre_buffer_data(&weights) != byre_buffer_data(&snapshot);
  byre_buffer_release(&weights);
  byre_buffer_release(&snapshot);
  printf("byre %s: %s\n", byre_version(), good && uses_its_allocator() ? "good" : "bad");
  return 0;
}
