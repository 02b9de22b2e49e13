// Names for what a client asks for once, however often it has to say so.
#ifndef SLIPWAY_CLIENT_REQUEST_ID_H_
#define SLIPWAY_CLIENT_REQUEST_ID_H_

#include <string>

namespace slipway {

// New for new work; the server knows repeated requests by it.
std::string NewRequestId();

}  // namespace slipway

#endif  // SLIPWAY_CLIENT_REQUEST_ID_H_
