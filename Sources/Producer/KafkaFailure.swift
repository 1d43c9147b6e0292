import Kafka
import Pipeline

/// Kafka's errors as the loop's failures. The classes have the same names on both sides.
func failing<Result>(_ body: () throws(KafkaError) -> Result) throws(Failure) -> Result {
  do throws(KafkaError) {
    return try body()
  } catch {
    throw Failure(Failure.Kind(rawValue: error.errorClass.rawValue)!, "\(error)")
  }
}

extension PartitionOffset {
  var kafkaPosition: PartitionPosition { PartitionPosition(partition: partition, offset: offset) }
}
