// Broker
