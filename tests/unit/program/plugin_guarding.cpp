// SPDX-License-Identifier: BSL-1.0
// Loads, uses and unloads a plugin that contains a checked build of byre: plugin_guarding PLUGIN. Its handler of
// faults stays valid, and leaves those of others to the handler that was there before.
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
  std::fputs("a write to a page that may only be read was no fault\n", stderr);
  return 1;
}
