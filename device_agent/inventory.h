// What this machine is made of, beyond what programs are compiled for: kinds of cores, disk, power.
#ifndef SLIPWAY_DEVICE_AGENT_INVENTORY_H_
#define SLIPWAY_DEVICE_AGENT_INVENTORY_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "proto/slipway/v1/fleet.pb.h"

namespace slipway {

// From /proc and /sys below `root`, which is empty but in tests: all but what AddStorage adds. `cpus` are those that the
// agent may use. Of cores nothing is said where neither cpu_capacity nor cpufreq tells them apart (a virtual machine); two
// are of one kind when their capacities are equal or, where frequencies alone are known, differ by less than 15 %: single
// cores of one kind are let run faster than others, by 5 to 10 %.
v1::DeviceInventory ReadInventory(const std::string& root, absl::Span<const int> cpus);

// What the machine is called, for people, from below `root`: its processor where /proc/cpuinfo names one, as on x86-64; else the
// board of the device tree, or what the firmware says. Empty where nothing does.
std::string ReadModel(const std::string& root);

// The file system of `folder`; nothing where it cannot be asked.
void AddStorage(const std::string& folder, v1::DeviceInventory& inventory);

// Puts what a vendor's library says of its GPUs, a line each, in place of their models; other accelerators stay. Nothing for no lines.
void NameGpus(absl::Span<const std::string> gpus, v1::DeviceInventory& inventory);

// As DeviceInventory.storage_free_bytes has it: so that it changes seldom.
int64_t RoundedFree(int64_t total_bytes, int64_t free_bytes);

}  // namespace slipway

#endif  // SLIPWAY_DEVICE_AGENT_INVENTORY_H_
