# The engines that mf-bridge can use, each as far as its library is installed (packaging/apt-bridge.txt). The program is
# built in any case, and says in words which engine it lacks.
find_path(MF_NATS_INCLUDE nats/nats.h DOC "The C client of NATS (libnats-dev)")
find_library(MF_NATS_LIBRARY nats DOC "The C client of NATS (libnats-dev)")
find_path(MF_KAFKA_INCLUDE librdkafka/rdkafka.h DOC "The C client of Kafka (librdkafka-dev)")
find_library(MF_KAFKA_LIBRARY rdkafka DOC "The C client of Kafka (librdkafka-dev)")
foreach(engine IN ITEMS NATS KAFKA)
  if(MF_${engine}_INCLUDE AND MF_${engine}_LIBRARY)
    target_compile_definitions(mf_bridge PRIVATE MF_BRIDGE_${engine})
    target_link_libraries(mf_bridge PRIVATE "${MF_${engine}_LIBRARY}")
  else()
    message(STATUS "mf-bridge is built without ${engine} (tools/bootstrap bridge installs its library)")
  endif()
endforeach()
