#include <iostream>

#include "library.hpp"

int main(int, char** arguments) {
  const std::string made = std::string(arguments[1]) + "/";  // the folder of the certificates
  const auto shown = [&](const std::string& name) {
    const std::string certificate = made + name;
    return mf::TlsOptions{
        .ca = made + "ca.pem", .certificate = certificate + ".pem", .key = certificate + ".key"};
  };
  mf::Server server({.listen = "tls://127.0.0.1:0", .tls = shown("server"), .access = made + "access.conf"});
  server.offer(std::make_shared<Shelf>(), {.agent = "north"});
  server.start();

  mf::Client reader(server.address().str(), {.tls = shown("reader")});
  const auto shelf = guide::ShelfClient(reader).at("north");
  std::cout << "copies: " << shelf.copies("Emma") << '\n';
  try {
    (void)shelf.lend("Emma");
  } catch (const mf::Error& error) {
    std::cout << "lend: " << mf::name(error.code()) << '\n';
  }

  mf::Client stranger(server.address().str(), {.tls = {.ca = made + "ca.pem"}});
  try {
    (void)guide::ShelfClient(stranger).at("north").copies("Emma");
  } catch (const mf::Error& error) {
    std::cout << "without a certificate: " << mf::name(error.code()) << '\n';
  }

  server.stop();
}
