// Writes preferences into a store, and prints what that costs beside SQLite's own.
//
//     store-bench [FOLDER] [SECONDS]          the folder must be on the disk that is meant; 3 s each
//     store-bench PARAMETERS SECONDS          in a schema of PostgreSQL that is empty
//     store-bench hammer FILE THREADS         writes until it is killed; a line for each answered write

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "hammer", let threads = Int(arguments[3]) {
  hammer(arguments[2], threadCount: threads)
} else {
  let place = arguments.count > 1 ? arguments[1] : "."
  let seconds = arguments.count > 2 ? Double(arguments[2]) ?? 3 : 3
  if isServer(place) {
    measureStore(place, seconds: seconds)
  } else {
    measure(folder: place, seconds: seconds)
  }
}
