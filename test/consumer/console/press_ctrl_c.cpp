// Starts a program in its own console of Windows, presses Ctrl-C when it has said something, passes on what it
// says, and ends with its code.
#include <windows.h>

#include <cstdio>

int main(int count, char** arguments) {
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    HANDLE said = nullptr, say = nullptr;
    if (count != 2 || !CreatePipe(&said, &say, &inherited, 0))
        return 2;
    STARTUPINFOA how{};
    how.cb = sizeof how;
    how.dwFlags = STARTF_USESTDHANDLES;
    how.hStdOutput = how.hStdError = say;
    PROCESS_INFORMATION program{};
    if (!CreateProcessA(nullptr, arguments[1], nullptr, nullptr, TRUE, 0, nullptr, nullptr, &how, &program))
        return 3;
    CloseHandle(say);
    SetConsoleCtrlHandler(nullptr, TRUE); // this process goes on; the other has been started before
    bool pressed = false;
    char text[4096];
    for (DWORD length = 0; ReadFile(said, text, sizeof text, &length, nullptr) && length != 0;) {
        std::fwrite(text, 1, length, stdout);
        std::fflush(stdout);
        Sleep(pressed ? 0 : 300);
        if (!pressed && !GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0))
            return TerminateProcess(program.hProcess, 4), 4;
        pressed = true;
    }
    DWORD code = 5;
    WaitForSingleObject(program.hProcess, INFINITE);
    GetExitCodeProcess(program.hProcess, &code);
    return static_cast<int>(code);
}
