// Writes preferences into a store, and prints what that costs beside SQLite's own.
//
//     store-bench [FOLDER] [SECONDS]          the folder must be on the disk that is meant; 3 s each
//     store-bench floor FOLDER SECONDS ROWS   SQLite alone as JSON: so many rows a commit, and reads
//     store-bench PARAMETERS SECONDS          in a schema of PostgreSQL that is empty
//     store-bench hammer FILE THREADS         writes until it is killed; a line for each answered write
//     store-bench evidence FOLDER RECORDS     the evidence index alone

let arguments = CommandLine.arguments
if arguments.count == 4, arguments[1] == "hammer", let threads = Int(arguments[3]) {
  hammer(arguments[2], threadCount: threads)
} else if arguments.count == 5, arguments[1] == "floor", let seconds = Double(arguments[3]),
  let rows = Int(arguments[4])
{
  printFloor(folder: arguments[2], seconds: seconds, rowsPerCommit: rows)
} else if arguments.count == 4, arguments[1] == "evidence", let count = Int(arguments[3]) {
  EvidenceBench(folder: arguments[2], count: count).run()
} else {
  let place = arguments.count > 1 ? arguments[1] : "."
  let seconds = arguments.count > 2 ? Double(arguments[2]) ?? 3 : 3
  if isServer(place) {
    measureStore(place, seconds: seconds)
  } else {
    measure(folder: place, seconds: seconds)
  }
}
