// Consumer
