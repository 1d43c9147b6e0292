"""What the integration tests stand on: brokers, processes, records, and checks of what a reader sees."""
