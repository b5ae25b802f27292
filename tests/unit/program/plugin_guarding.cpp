// SPDX-License-Identifier: BSL-1.0
// plugin_guarding PLUGIN: loads, uses and unloads a plugin that contains a checked build of byre.
// The SIGSEGV handler of the plugin must remain valid, and must forward other faults to the handler
// that was installed before.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

int main(int count, char** arguments) {
  void* const plugin = count == 2 ? ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* const use = plugin != nullptr ? ::dlsym(plugin, "use_byre") : nullptr;
  if (use == nullptr) {
    std::fputs("usage: plugin_guarding PLUGIN\n", stderr);
    return 2;
  }
  std::signal(SIGSEGV, [](int) { ::_exit(0); });
  if (reinterpret_cast<int (*)()>(use)() != 0 || ::dlclose(plugin) != 0) {
    std::fputs("the plugin does not work\n", stderr);
    return 1;
  }
  void* const page = ::mmap(nullptr, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<char*>(page) = 1;
  std::fputs("a write to a read-only page did not fault\n", stderr);
  return 1;
}
