// The confinements there are: tables of what a runner and a compile child are left with, and why.
#ifndef SLIPWAY_CORE_CONFINEMENT_PROFILES_H_
#define SLIPWAY_CORE_CONFINEMENT_PROFILES_H_

#include <string>
#include <vector>

#include "core/confinement/confinement.h"

namespace slipway {

// Of a process that loads and runs programs whose blobs are files beneath `blob_folder`, answers over a socket that
// is open, and starts threads but no process.
Confinement RunnerConfinement(const std::string& blob_folder);

// The same of one that works with accelerators, too: their vendors' libraries are loaded, which open devices and write
// beneath `accelerator_folder`, which exists, and whose compilers start programs of the system. What a program of a stranger
// may do by these is more than by itself: an agent that does not ask for accelerators has none of it.
Confinement AcceleratorConfinement(const std::string& blob_folder,
                                   const std::string& accelerator_folder);

// Of a process that compiles a model, starts children for that and the linker, which is found in one of `program_folders`
// or of the system's, and writes beneath `writable_folders`, which exist.
Confinement CompileConfinement(const std::vector<std::string>& writable_folders,
                               const std::vector<std::string>& program_folders);

}  // namespace slipway

#endif  // SLIPWAY_CORE_CONFINEMENT_PROFILES_H_
