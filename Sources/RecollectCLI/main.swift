#if CommandLine
import ArgumentParser
#endif
print("recall")
