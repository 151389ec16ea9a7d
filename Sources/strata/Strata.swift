@main
struct Strata {
  static func main() {}
}
