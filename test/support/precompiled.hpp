#pragma once

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
