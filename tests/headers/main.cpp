// SPDX-License-Identifier: BSL-1.0
// The test is that this program links.
int main() {}
