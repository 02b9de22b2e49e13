// PathRule: what a confined process may do with a part of the file system.
#ifndef SLIPWAY_CORE_CONFINEMENT_PATH_RULE_H_
#define SLIPWAY_CORE_CONFINEMENT_PATH_RULE_H_

#include <string>

namespace slipway {

enum class PathAccess {
  kReadFiles,  // Open to read, whose name is known: folders cannot be listed.
  kRead,       // And folders listed.
  kRun,        // And files run.
  kWrite,      // Read, and all that can be changed, but for devices and sockets.
  kDevice,     // Read, written to and told what to do: files of devices.
};

// A file, or a folder with all beneath. One that does not exist when a process is confined is passed over.
struct PathRule {
  std::string path;
  PathAccess access;
};

}  // namespace slipway

#endif  // SLIPWAY_CORE_CONFINEMENT_PATH_RULE_H_
