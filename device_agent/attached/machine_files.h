// What an attached device's system tells of it in files (/proc, /sys), asked of its shell: what is read once need not make a bare runner larger.
#ifndef SLIPWAY_DEVICE_AGENT_ATTACHED_MACHINE_FILES_H_
#define SLIPWAY_DEVICE_AGENT_ATTACHED_MACHINE_FILES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace slipway {

// A line for any POSIX shell, which runs nothing but what is in a shell, and prints the files that say of which cores, caches and power the machine
// is. What it may not read it leaves out.
const char* MachineFilesLine();

// Makes what such a line printed files again, below a folder of this machine's that has none; what is no such file is left out, as the
// device may be anybody's.
void WriteMachineFiles(absl::string_view printed, const std::string& folder);

// The processors that files were written of, ascending.
std::vector<int> ProcessorsOf(const std::string& folder);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_ATTACHED_MACHINE_FILES_H_
