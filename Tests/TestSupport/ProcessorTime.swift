/// Work measured by the processor time of the thread that does it: what else the machine does hardly
/// changes it.
public enum ProcessorTime {
  /// Seconds that the work takes.
  public static func seconds(_ work: () throws -> Void) rethrows -> Double {
    let start = Fuzzing.processorTime()
    try work()
    return Fuzzing.processorTime() - start
  }

  /// How many times as long the work takes on an input that is four times as large: about 4 where the
  /// time is proportional to the size, 16 where it is to the square.
  ///
  /// The least of three measurements counts for each size. Times that are too short to be compared
  /// count as proportional.
  public static func growth<Input>(
    from size: Int, of input: (Int) -> Input, _ work: (Input) throws -> Void
  ) rethrows -> Double {
    let inputs = [input(size), input(4 * size)]
    var least = [Double.infinity, .infinity]
    for index in inputs.indices {
      for _ in 0..<3 {
        let start = Fuzzing.processorTime()
        try work(inputs[index])
        least[index] = min(least[index], Fuzzing.processorTime() - start)
      }
    }
    return least[1] < 0.02 ? 4 : least[1] / max(least[0], 0.000_1)
  }
}
