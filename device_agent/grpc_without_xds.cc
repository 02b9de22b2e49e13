// In place of the part of gRPC 1.51 that registers xDS (names like "xds:///service", and what they bring along of Envoy's
// protocols), which the linker leaves out with all that it needs: 1.7 MB of an agent. Where another version of gRPC has
// more in that place, the symbol is defined twice and nothing links.
namespace grpc_core {

class CoreConfiguration {
 public:
  class Builder;
};

void RegisterExtraFilters(CoreConfiguration::Builder* builder);
void RegisterExtraFilters(CoreConfiguration::Builder*) {}

}  // namespace grpc_core
