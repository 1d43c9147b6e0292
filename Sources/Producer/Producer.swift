// Producer
