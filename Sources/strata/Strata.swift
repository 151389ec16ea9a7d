#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@main
struct Strata {
  static func main() {
    let status = CommandLineTool.run(
      Array(CommandLine.arguments.dropFirst()), console: .process)
    exit(status.rawValue)
  }
}
