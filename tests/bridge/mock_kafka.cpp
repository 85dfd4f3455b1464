// The brokers of Kafka as librdkafka plays them, in a process of their own, so that bridges may be killed
// beside them. They speak Kafka's protocol over TCP and keep what they are given in memory.
//
//   mf_mock_kafka BROKERS TOPIC PARTITIONS
//
// Says where they are; then takes a command a line, and answers each with "ok": "down", "up" (all brokers),
// "refuse CODE COUNT" (so many requests to produce fail with this code). Ends with its standard input.
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr std::int16_t kProduce = 0;  // the number of the request in Kafka's protocol

void obey(rd_kafka_mock_cluster_t* cluster, int brokers, const std::string& line) {
  std::istringstream words(line);
  std::string command;
  words >> command;
  for (int broker = 1; broker <= brokers; ++broker) {
    if (command == "down") (void)rd_kafka_mock_broker_set_down(cluster, broker);
    if (command == "up") (void)rd_kafka_mock_broker_set_up(cluster, broker);
  }
  if (command == "refuse") {
    int code = 0;
    std::size_t count = 0;
    words >> code >> count;
    const std::vector<rd_kafka_resp_err_t> errors(count, static_cast<rd_kafka_resp_err_t>(code));
    rd_kafka_mock_push_request_errors_array(cluster, kProduce, count, errors.data());
  }
  std::cout << "ok" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int brokers = std::atoi(argv[1]);
  std::array<char, 256> why{};
  rd_kafka_t* const client = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why.data(), why.size());
  auto* const cluster = rd_kafka_mock_cluster_new(client, brokers);
  if (cluster == nullptr) return 1;
  if (rd_kafka_mock_topic_create(cluster, argv[2], std::atoi(argv[3]), 1) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return 1;
  std::cout << "kafka://" << rd_kafka_mock_cluster_bootstraps(cluster) << std::endl;
  for (std::string line; std::getline(std::cin, line);) obey(cluster, brokers, line);
  rd_kafka_mock_cluster_destroy(cluster);
  rd_kafka_destroy(client);
  return 0;
}
